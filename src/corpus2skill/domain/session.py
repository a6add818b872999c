"""A conversation as we keep it: what was asked and what was answered, nothing of how."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Channel = Literal["text", "voice"]
Door = Literal["cli", "http", "web", "widget", "mcp", "openai"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One question with its answer."""

    question: str
    answer: str
    run: str = field(default="", compare=False)
    """Id of the run that answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation: its id and the turns so far, oldest first."""

    session_id: str
    turns: tuple[Turn, ...] = ()
    last_turn: int = 0
    """Number of the newest turn, those counted that ended without an answer and are not among `turns`."""

    @property
    def next_turn(self) -> int:
        """Number of the turn that a new question begins, from 1."""
        return max(len(self.turns), self.last_turn) + 1
