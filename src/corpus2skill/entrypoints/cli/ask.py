"""`ask`: the trail as it happens, then the answer with its sources."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from corpus2skill.domain.run import RunRecord
from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.desk import Desk, open_desk
from corpus2skill.entrypoints.cli.engine_note import note_engine
from corpus2skill.entrypoints.cli.options import (
    BaseUrlOption,
    Channel,
    CorpusOption,
    JsonOption,
    ModelOption,
    SessionOption,
    UserOption,
    WorkspaceOption,
)
from corpus2skill.entrypoints.cli.output import Output
from corpus2skill.entrypoints.cli.speaking import speak_answer
from corpus2skill.entrypoints.cli.trail import (
    EXPLAINED,
    TrailListener,
    answer_lines,
    cause_of,
    ending_line,
)
from corpus2skill.errors import InvalidQuestion

if TYPE_CHECKING:
    from corpus2skill.application.ask import AskOptions


def ask_command(
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="The question; - reads it from stdin.")],
    corpus: CorpusOption = None,
    session: SessionOption = None,
    user: UserOption = None,
    channel: Annotated[Channel, typer.Option("--channel", help="Wording and length.")] = "text",
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Ask a question and see the trail to its answer.

    \b
    corpus2skill ask "How do I cancel the annual plan?"
    echo "How do I cancel the annual plan?" | corpus2skill ask -
    corpus2skill ask "And the monthly one?" --session SESSION --json

    The trail goes to stderr as it happens, the answer with its sources to stdout.
    """
    from corpus2skill.application.ask import AskOptions

    desk = open_desk(workspace, is_json=json)
    text = _from_stdin() if question == "-" else question
    options = AskOptions(
        question=text,
        corpus=corpus,
        session=session,
        user=user,
        channel=channel,
        model=model,
        base_url=base_url,
    )
    note_engine(desk, corpus, model)
    record = answer(desk, options)
    return exit_codes.of_outcome(record.outcome)


def answer(desk: Desk, options: AskOptions) -> RunRecord:
    """Run one question and write all that a person, or with `--json` a program, gets of it."""
    from corpus2skill.application.ask import ask

    out = desk.out
    if options.channel == "voice" and not out.is_json:
        record = asyncio.run(speak_answer(desk, options))
        _note_ending(out, record)
        return record
    record = asyncio.run(ask(desk.workspace, options, TrailListener(out)))
    if out.is_json:
        out.document(record)
    else:
        for line in answer_lines(out, record):
            out.answer(line)
    _note_ending(out, record)
    return record


def _note_ending(out: Output, record: RunRecord) -> None:
    """How it ended; where something is to be set right, what, which the asker is not told."""
    if record.outcome in EXPLAINED and (cause := cause_of(out, record)):
        out.note(out.say("chat.cause", cause=cause))
    out.note(ending_line(out, record))


def _from_stdin() -> str:
    """The question from standard input, in the stream's encoding or else in UTF-8."""
    if sys.stdin is None:  # the interpreter was begun with a closed one
        return ""
    data = sys.stdin.buffer.read()
    for encoding in (sys.stdin.encoding or "utf-8", "utf-8"):
        try:
            return data.decode(encoding).removeprefix("\ufeff").strip()
        except UnicodeDecodeError:
            continue
    raise InvalidQuestion("question_undecodable")
