"""How little a Claude model can be made to think: each generation has its own way.

4.x and older think only when told to. The fifth generation thinks by itself: some models can be told not
to, Sonnet 5.5 keeps its short notes between tool calls, and the largest cannot be stopped, only slowed.
"""

from __future__ import annotations

import re
from typing import Literal

Thinking = Literal["disabled", "between_tools", "low_effort", "unsaid"]

_LADDER: tuple[Thinking, ...] = ("disabled", "between_tools", "low_effort", "unsaid")
"""From the least thinking on; an endpoint that refuses one is asked with the next."""
_FIRST: tuple[tuple[str, Thinking], ...] = (
    (r"opus-5-5|opus-5\.5|fable|mythos", "low_effort"),
    (r"sonnet-5-5|sonnet-5\.5", "between_tools"),
    (r"claude-(instant|v?[123]\b|[1-4][.-])|(opus|sonnet|haiku)-[34]\b", "unsaid"),
)
ALLOWANCE = 4_096
"""Tokens on top of the visible reply for a model that thinks all the same."""


def least_thinking(model: str) -> Thinking:
    """Return what to ask `model` for; names of Bedrock and Vertex have the provider's name in them."""
    for pattern, mode in _FIRST:
        if re.search(pattern, model.lower()):
            return mode
    return "disabled"


def next_thinking(mode: Thinking) -> Thinking | None:
    """Return what to ask for where `mode` was refused; None after the last."""
    following = _LADDER[_LADDER.index(mode) + 1 :]
    return following[0] if following else None


def may_think(mode: Thinking) -> bool:
    return mode in {"between_tools", "low_effort"}
