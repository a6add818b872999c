"""A run before its first round: what was said before, then the question."""

from __future__ import annotations

from collections.abc import Sequence

from corpus2skill.domain.message import ProgramMessage, Text
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.run import RunIds
from corpus2skill.domain.session import Turn
from corpus2skill.domain.turns import as_heard
from corpus2skill.navigator.cancellation import Cancellation
from corpus2skill.navigator.question import Question
from corpus2skill.navigator.request import room_left
from corpus2skill.navigator.run import Navigator, Run
from corpus2skill.navigator.session import build_history, left_out_notice
from corpus2skill.navigator.trail import Trail
from corpus2skill.ports.events import RunListener

_SHARE_OF_HISTORY = 4
"""One part in so many of what a window has room for: documents come first."""


def begin_run(
    question: Question,
    navigator: Navigator,
    listener: RunListener | None,
    cancellation: Cancellation,
) -> Run:
    """Return a run with the session's history and the question as its messages."""
    session = navigator.records.session(question.tenant, question.session, navigator.tree.corpus)
    began = navigator.clock.monotonic()
    run = Run(
        question=question,
        navigator=navigator,
        cancellation=cancellation,
        listener=listener,
        ids=RunIds(
            tenant=question.tenant,
            corpus=navigator.tree.corpus,
            version=navigator.tree.version,
            session=question.session,
            turn=session.next_turn,
            run=question.run or navigator.ids.new("run"),
        ),
        language=question.language,
        started_at=moment_of(navigator.clock.now()),
        began=began,
        messages=[ProgramMessage((Text(question.text),))],
        is_first_turn=not session.turns,
        trail=Trail(clock=navigator.clock, last=began),
    )
    turns = session.turns
    if question.heard_before is not None and question.heard_before.run in {turn.run for turn in turns}:
        run.heard_before = question.heard_before
        turns = as_heard(turns, [question.heard_before])
    _put_history_first(run, turns)
    return run


def _put_history_first(run: Run, turns: Sequence[Turn]) -> None:
    """Put as much of the conversation in front as the limits allow and the model's window has room for."""
    tokens = min(run.limits.history_tokens, room_left(run) // _SHARE_OF_HISTORY)
    history = build_history(turns, tokens, run.language)
    run.left_out_turns = history.left_out
    if history.left_out and not history.messages:
        notice = left_out_notice(history.left_out, run.language)
        run.messages = [ProgramMessage((notice, Text(run.question.text)))]
    run.messages = [*history.messages, *run.messages]
