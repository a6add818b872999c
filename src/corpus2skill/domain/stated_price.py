"""Prices that somebody states for models, as one line of text: `openai:qwen3=0.5/2, openai:big=3/15`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import cast

FORM = "PROVIDER:MODEL=INPUT/OUTPUT, ..."
_MOST = 1_000_000.0


@dataclass(frozen=True, slots=True)
class StatedPrice:
    """US dollars for a million tokens; 0 for a model of one's own that costs nothing."""

    input: float
    output: float


def stated_prices(text: str) -> dict[str, StatedPrice]:
    """Return the prices by the models' names, `provider:model`.

    Raises:
        ValueError: the text is not of that form.
    """
    return dict(_entry(entry) for entry in text.split(","))


def prices_text(table: Mapping[str, object]) -> str:
    """Return a table, each model with its `input` and `output`, as text.

    Raises:
        ValueError: it is no such table.
    """
    return ", ".join(f"{model}={_pair_text(pair)}" for model, pair in table.items())


def _entry(text: str) -> tuple[str, StatedPrice]:
    model, _, pair = text.rpartition("=")
    provider, _, name = model.strip().partition(":")
    if not provider or not name.strip():
        raise ValueError(text)
    given, _, made = pair.partition("/")
    return model.strip(), StatedPrice(_dollars(given), _dollars(made))


def _dollars(text: str) -> float:
    dollars = float(text)
    if not isfinite(dollars) or not 0 <= dollars <= _MOST:
        raise ValueError(text)
    return dollars


def _pair_text(pair: object) -> str:
    if isinstance(pair, str):
        return pair
    if not isinstance(pair, Mapping):
        raise ValueError(str(pair))
    prices = cast("Mapping[str, object]", pair)
    if sorted(prices) != ["input", "output"]:
        raise ValueError(str(prices))
    return f"{prices['input']}/{prices['output']}"
