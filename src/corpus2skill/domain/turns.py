"""From the records of a session to its turns: what was asked, and what the asker came to know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from corpus2skill.domain.run import Heard, Outcome, RunRecord
from corpus2skill.domain.session import Turn

REMEMBERED: tuple[Outcome, ...] = ("answered", "not_found", "fetch_limit", "interrupted")
"""Outcomes whose turns belong to the conversation. A failure says nothing of the matter, and a question
that the provider refused would have the next one refused too."""


def turns_of(records: Sequence[RunRecord]) -> tuple[Turn, ...]:
    """Return the turns that `records` of one session and corpus, oldest first, make.

    An answer that was spoken over counts as far as it was heard.
    """
    turns = (_turn(record) for record in records if record.outcome in REMEMBERED)
    return as_heard(turns, [record.heard_before for record in records if record.heard_before is not None])


def as_heard(turns: Iterable[Turn], heard: Iterable[Heard]) -> tuple[Turn, ...]:
    """Return `turns` with those answers shortened of which less was heard."""
    characters = {part.run: part.characters for part in heard}
    return tuple(
        replace(turn, answer=turn.answer[: characters[turn.run]]) if turn.run in characters else turn
        for turn in turns
    )


def _turn(record: RunRecord) -> Turn:
    answer = record.answer if record.heard is None else record.heard
    return Turn(question=record.question, answer=answer, run=record.ids.run)
