"""`eval`: a question pack, run and scored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.compile_progress import compile_progress
from corpus2skill.entrypoints.cli.consent import Consent
from corpus2skill.entrypoints.cli.desk import open_desk
from corpus2skill.entrypoints.cli.money import spending_lines
from corpus2skill.entrypoints.cli.options import (
    BaseUrlOption,
    JsonOption,
    MaxCostOption,
    ModelOption,
    WorkspaceOption,
    YesOption,
    named_path,
)
from corpus2skill.entrypoints.cli.output import Output, columns
from corpus2skill.errors import InvalidInput

if TYPE_CHECKING:
    from corpus2skill.application.evaluate import Evaluation

_TOLD_EVERY = 20
"""Questions between two lines of progress."""


def eval_command(
    pack: Annotated[
        Path, typer.Argument(parser=named_path, metavar="PACK", help="A folder with corpus/ and questions.")
    ],
    questions: Annotated[
        Path | None,
        typer.Option(
            "--questions",
            parser=named_path,
            metavar="FILE",
            help="Else the pack's own questions*.jsonl.",
            show_default=False,
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            parser=named_path,
            metavar="RUN.jsonl",
            help="Write one line an answer, and a page beside it (RUN.html).",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", metavar="N", min=1, help="The first N questions.", show_default=False),
    ] = None,
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    max_cost: MaxCostOption = None,
    yes: YesOption = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Run a question pack and print its scores.

    \b
    corpus2skill eval ./packs/plans-ja --limit 10
    corpus2skill eval ./packs/plans-ja --out run.jsonl --json

    The pack's corpus is compiled first unless the engine in use has compiled it already.
    With --yes or --max-cost a paid compile does not ask.
    """
    from corpus2skill.application.evaluate import EvaluateOptions, evaluate, run_lines
    from corpus2skill.application.quality_page import quality_page

    desk = open_desk(workspace, is_json=json)
    if out is not None:
        _write(out, "", mode="a")  # a path that cannot be written is found before an hour of questions
    options = EvaluateOptions(
        pack=pack,
        questions=questions,
        limit=limit,
        model=model,
        base_url=base_url,
        max_cost=max_cost,
        is_confirmed=yes,
    )
    with ExitStack() as showing:
        compiling = showing.enter_context(compile_progress(desk.out))
        asked = _asked(desk.out, compiled=showing.close)
        consent = Consent(desk.out, compiling)
        evaluation = asyncio.run(evaluate(desk.workspace, options, compiling, asked, consent))
    if out is not None:
        _write(out, "".join(f"{line}\n" for line in run_lines(evaluation)))
        page = out.with_suffix(".html")
        _write(page, quality_page(evaluation, desk.out.language))
        desk.out.note(desk.out.say("cli.page_written", file=str(page)))
    if json:
        desk.out.document(
            {
                "corpus": evaluation.corpus,
                "version": evaluation.version,
                "scores": evaluation.scores,
                "spending": evaluation.spending,
            }
        )
    else:
        _show(desk.out, evaluation)
    if evaluation.is_capped:
        desk.out.note(desk.out.say("cli.eval_capped", asked=len(evaluation.asked)))
        return exit_codes.SPENDING_CAP
    return exit_codes.OK


def _asked(out: Output, *, compiled: Callable[[], None]) -> Callable[[int, int], None]:
    def tell(done: int, total: int) -> None:
        if done == 0:
            compiled()
        if done == total or (done and done % _TOLD_EVERY == 0):
            out.note(out.say("cli.asked", done=done, total=total))

    return tell


def _write(file: Path, text: str, *, mode: Literal["a", "w"] = "w") -> None:
    try:
        with file.open(mode, encoding="utf-8") as opened:
            opened.write(text)
    except OSError as error:
        raise InvalidInput("file_unwritable", file=str(file), reason=error.strerror or str(error)) from error


def _show(out: Output, evaluation: Evaluation) -> None:
    from corpus2skill.application.json_form import to_json

    scores = to_json(evaluation.scores)
    assert isinstance(scores, dict)
    rows = [(name, "-" if value is None else str(value)) for name, value in scores.items()]
    for row in (*columns(rows), *spending_lines(out, evaluation.spending, out.answer_room)):
        out.answer(row)
