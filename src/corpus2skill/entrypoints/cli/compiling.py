"""`compile`: documents to a new version of a corpus."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from corpus2skill.domain.job import CompileReport
from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.compile_progress import compile_progress
from corpus2skill.entrypoints.cli.compile_report import (
    estimate_document,
    report_document,
    report_lines,
    source_lines,
    warnings_of,
)
from corpus2skill.entrypoints.cli.consent import Consent
from corpus2skill.entrypoints.cli.desk import Desk, open_desk
from corpus2skill.entrypoints.cli.money import estimate_lines
from corpus2skill.entrypoints.cli.noting import noted
from corpus2skill.entrypoints.cli.options import (
    BaseUrlOption,
    CorpusOption,
    GroupingModelOption,
    JsonOption,
    MaxCostOption,
    ModelOption,
    SummaryModelOption,
    WindowOption,
    WorkspaceOption,
    YesOption,
    named_path,
)
from corpus2skill.settings import MOST

if TYPE_CHECKING:
    from corpus2skill.application.compile_options import CompileOptions


def _size(name: str, what: str) -> typer.models.OptionInfo:
    return typer.Option(
        name, metavar="N", min=0, max=MOST["int"], help=f"{what}; remembered.", show_default=False
    )


def compile_command(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(
            parser=named_path,
            metavar="PATH",
            help="Folders and files; else those of the last compile.",
            show_default=False,
        ),
    ] = None,
    corpus: CorpusOption = None,
    title: Annotated[
        str | None,
        typer.Option("--title", metavar="TEXT", help="The root's title; remembered.", show_default=False),
    ] = None,
    model: ModelOption = None,
    summary_model: SummaryModelOption = None,
    grouping_model: GroupingModelOption = None,
    base_url: BaseUrlOption = None,
    context_window: WindowOption = None,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Only say what it would cost; nothing is called or written.")
    ] = False,
    max_cost: MaxCostOption = None,
    batch: Annotated[
        bool,
        typer.Option("--batch", help="Summaries through the provider's batch interface: slower, cheaper."),
    ] = False,
    language: Annotated[
        Literal["auto", "ja", "en"] | None,
        typer.Option(
            "--language",
            help="The corpus's language; remembered. auto: what most of the text is in.",
            show_default=False,
        ),
    ] = None,
    no_activate: Annotated[
        bool, typer.Option("--no-activate", help="Write the version, do not switch.")
    ] = False,
    regroup: Annotated[
        bool, typer.Option("--regroup", help="Group afresh instead of keeping the active version's groups.")
    ] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Publish nothing if a source is refused or a summary stands in.")
    ] = False,
    yes: YesOption = False,
    chunk_limit: Annotated[int | None, _size("--chunk-limit", "Most characters of a chunk (1500)")] = None,
    chunk_minimum: Annotated[
        int | None, _size("--chunk-minimum", "Fewest characters of a chunk (40)")
    ] = None,
    max_children: Annotated[int | None, _size("--max-children", "Most groups in a node (12)")] = None,
    max_leaves: Annotated[int | None, _size("--max-leaves", "Most leaves in a group (30)")] = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Name the accepted files too.")] = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Compile documents into a new active version.

    \b
    corpus2skill compile ./documents
    corpus2skill compile ./terms ./faq.md --corpus terms --title "Terms of use" --language en
    corpus2skill compile

    The paths are the whole corpus: what no longer lies under them leaves it. Without a path the last ones
    are compiled again. If more than a fifth of the documents would go, --yes is needed.

    \b
    corpus2skill compile ./documents --model anthropic --estimate
    corpus2skill compile ./documents --model openai:NAME --max-cost 5

    A paid model is used only when it is named. Before the first paid call the estimate is shown and a yes
    asked for; without a terminal give --yes or --max-cost. Interrupted, the same command goes on.
    """
    from corpus2skill.application.compile_options import CompileOptions

    desk = open_desk(workspace, is_json=json)
    options = CompileOptions(
        corpus=corpus,
        paths=tuple(paths or ()),
        title=title,
        language=None if language == "auto" else language,
        is_language_auto=language == "auto",
        model=model,
        summary_model=summary_model,
        grouping_model=grouping_model,
        base_url=base_url,
        context_window=context_window,
        max_cost=max_cost,
        is_batch=batch,
        chunk_limit=chunk_limit,
        chunk_minimum=chunk_minimum,
        max_children=max_children,
        max_leaves=max_leaves,
        activate=not no_activate,
        regroup=regroup,
        strict=strict,
        is_confirmed=yes,
    )
    if estimate:
        return _estimated(desk, options)
    report = compiled(desk, options, is_verbose=verbose)
    return exit_codes.WARNINGS if warnings_of(report) else exit_codes.OK


def compiled(desk: Desk, options: CompileOptions, *, is_verbose: bool) -> CompileReport:
    """Compile and write all that a person, or with `--json` a program, gets of it."""
    from corpus2skill.application.compile_documents import compile_documents

    with compile_progress(desk.out) as progress:
        consent = Consent(desk.out, progress)
        report = asyncio.run(compile_documents(desk.workspace, options, progress, consent))
    if report.is_new:
        noted(desk, "version.compiled", report.manifest.corpus, version=report.manifest.version)
    if desk.out.is_json:
        desk.out.document(report_document(desk.out, report))
    else:
        for line in report_lines(desk.out, report, is_verbose=is_verbose):
            desk.out.answer(line)
    return report


def _estimated(desk: Desk, options: CompileOptions) -> int:
    from corpus2skill.application.compile_documents import estimate_compile

    with compile_progress(desk.out) as listener:
        estimated = asyncio.run(estimate_compile(desk.workspace, options, listener))
    if desk.out.is_json:
        desk.out.document(estimate_document(desk.out, estimated.plan, estimated.spending))
        return exit_codes.OK
    for line in (
        *source_lines(desk.out, estimated.plan.reports, is_verbose=False),
        "",
        *estimate_lines(desk.out, estimated.spending, desk.out.answer_room),
    ):
        desk.out.answer(line)
    return exit_codes.OK
