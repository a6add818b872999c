"""What a command did, into the operators' log."""

from __future__ import annotations

import os

from corpus2skill.entrypoints.cli.desk import Desk
from corpus2skill.entrypoints.cli.faults import error_sentence
from corpus2skill.errors import Corpus2SkillError

_MOST_NAMED = 20


def noted(desk: Desk, action: str, object_: str, **values: str | float | bool | None) -> None:
    """Note what was just done. It is done, whether or not that can be noted: a person is told."""
    from corpus2skill.application.note_deed import note_deed

    try:
        note_deed(desk.workspace, action, object_, os.environ, **values)
    except Corpus2SkillError as error:
        desk.out.note(desk.out.say("cli.not_noted", reason=error_sentence(desk.out, error)))


def named(names: tuple[str, ...]) -> str:
    """Names for the log, the first of many."""
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f", ... (+{more})" if more > 0 else "")
