"""`remove`: documents out of a corpus, for good."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.compile_progress import compile_progress
from corpus2skill.entrypoints.cli.compile_report import report_document, report_lines, warnings_of
from corpus2skill.entrypoints.cli.consent import Consent
from corpus2skill.entrypoints.cli.desk import Desk, open_desk
from corpus2skill.entrypoints.cli.noting import named, noted
from corpus2skill.entrypoints.cli.options import (
    BaseUrlOption,
    CorpusOption,
    GroupingModelOption,
    JsonOption,
    MaxCostOption,
    ModelOption,
    SummaryModelOption,
    WorkspaceOption,
    YesOption,
)

if TYPE_CHECKING:
    from corpus2skill.application.compile_options import CompileOptions
    from corpus2skill.application.remove_documents import Removal
    from corpus2skill.domain.job import CompileReport


def remove_command(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE", help="Documents as the verdicts name them; a folder means all in it."
        ),
    ],
    purge: Annotated[
        bool, typer.Option("--purge", help="Delete their text from old versions and records too.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Let them in again that were taken out.")] = False,
    corpus: CorpusOption = None,
    model: ModelOption = None,
    summary_model: SummaryModelOption = None,
    grouping_model: GroupingModelOption = None,
    base_url: BaseUrlOption = None,
    max_cost: MaxCostOption = None,
    yes: YesOption = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Take documents out of a corpus.

    \b
    corpus2skill remove old-terms.docx
    corpus2skill remove old-terms.docx --purge --yes
    corpus2skill remove old-terms.docx --undo

    A new version without them is compiled and switched to, and what paid calls answered about them is
    deleted. They stay out of later compiles while their files are there. --purge deletes the old versions
    that hold them and the records of conversations that read them: this cannot be undone.
    """
    from corpus2skill.application.compile_options import CompileOptions

    desk = open_desk(workspace, is_json=json)
    options = CompileOptions(
        corpus=corpus,
        model=model,
        summary_model=summary_model,
        grouping_model=grouping_model,
        base_url=base_url,
        max_cost=max_cost,
        is_confirmed=yes,
    )
    report = _readmitted(desk, options, sources) if undo else _removed(desk, options, sources, purge=purge)
    return exit_codes.WARNINGS if warnings_of(report) else exit_codes.OK


def _readmitted(desk: Desk, options: CompileOptions, sources: list[str]) -> CompileReport:
    from corpus2skill.application.remove_documents import readmit_documents

    with compile_progress(desk.out) as progress:
        consent = Consent(desk.out, progress)
        report = asyncio.run(readmit_documents(desk.workspace, options, tuple(sources), progress, consent))
    noted(desk, "documents.readmitted", report.manifest.corpus, sources=named(tuple(sources)))
    _show(desk, report, {})
    return report


def _removed(desk: Desk, options: CompileOptions, sources: list[str], *, purge: bool) -> CompileReport:
    from corpus2skill.application.remove_documents import remove_documents

    with compile_progress(desk.out) as progress:
        consent = Consent(desk.out, progress)
        removal = asyncio.run(
            remove_documents(
                desk.workspace,
                options,
                tuple(sources),
                progress,
                confirm=consent,
                confirm_loss=consent.to_loss,
                is_purge=purge,
            )
        )
    noted(
        desk,
        "documents.purged" if purge else "documents.removed",
        removal.report.manifest.corpus,
        count=len(removal.sources),
        sources=named(removal.sources),
    )
    _show(
        desk,
        removal.report,
        {
            "removed": removal.sources,
            "results": removal.results,
            "versions": removal.versions,
            "records": removal.records,
            "unopened": removal.unopened,
            "under_way": removal.under_way,
        },
    )
    if not desk.out.is_json:
        _tell(desk, removal, purge=purge)
    return removal.report


def _show(desk: Desk, report: CompileReport, more: dict[str, object]) -> None:
    if desk.out.is_json:
        desk.out.document({**report_document(desk.out, report), **more})
        return
    for line in report_lines(desk.out, report, is_verbose=False):
        desk.out.answer(line)


def _tell(desk: Desk, removal: Removal, *, purge: bool) -> None:
    out = desk.out
    out.answer(
        out.say("cli.removed", corpus=removal.report.manifest.corpus, sources=", ".join(removal.sources))
    )
    if removal.results:
        out.answer(out.say("cli.removed_results", count=removal.results))
    if not purge:
        out.note(out.say("cli.purge_how"))
        return
    versions = ", ".join(map(str, removal.versions)) or "-"
    out.answer(out.say("cli.purged", versions=versions, records=len(removal.records)))
    if removal.unopened:
        runs = ", ".join(removal.unopened[:5]) + (", ..." if len(removal.unopened) > 5 else "")
        out.answer(out.say("cli.purge_unopened", count=len(removal.unopened), runs=runs))
    if removal.under_way:
        out.note(out.say("cli.purge_under_way", count=removal.under_way))
