"""A line on who answers, before a question goes to another engine than the one that compiled."""

from __future__ import annotations

from corpus2skill.entrypoints.cli.desk import Desk


def note_engine(desk: Desk, corpus: str | None, model: str | None) -> None:
    """Say that the offline engine answers, and how to choose the model that the corpus was compiled with."""
    from corpus2skill.application.answering_engine import model_left_out

    left_out = model_left_out(desk.workspace, corpus, model)
    if left_out is not None:
        desk.out.note(desk.out.say("cli.offline_answers", model=left_out))
