"""How little an OpenAI model can be made to reason: each generation has its own lowest effort."""

from __future__ import annotations

import re
from typing import Literal

Effort = Literal["none", "minimal", "low"]

ALLOWANCE = 4_096
"""Tokens on top of the visible reply for a model that reasons all the same."""
_LADDERS: tuple[tuple[str, tuple[Effort, ...]], ...] = (
    (r"gpt-(3|4)|chatgpt|chat-latest|gpt-4o", ()),
    (r"astra|gpt-6\.1-sol|-pro\b|\bo[134]\b|codex", ("low",)),
    (r"gpt-5(-mini|-nano|-\d{4}-|$)", ("minimal", "low")),
    (r"gpt-oss", ("low",)),
)
_UNKNOWN: tuple[Effort, ...] = ("none", "low")


def effort_ladder(model: str) -> tuple[Effort, ...]:
    """Return the efforts to ask for, one after the other where one is refused; then nothing is asked."""
    for pattern, ladder in _LADDERS:
        if re.search(pattern, model.lower()):
            return ladder
    return _UNKNOWN
