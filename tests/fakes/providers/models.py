"""The models that the fakes know, and how they differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCard:
    """What a provider says and minds about one model."""

    name: str
    window: int = 200_000
    """Tokens of prompt and reply together."""
    max_output: int = 64_000
    takes_max_tokens: bool = True
    """OpenAI: `max_tokens`; newer models want `max_completion_tokens`."""
    takes_sampling: bool = True
    """OpenAI: temperature and top_p other than 1."""
    reasons: bool = False
    """OpenAI: takes `reasoning_effort`."""
    takes_prefill: bool = False
    """Anthropic: the history may end with the assistant."""


def cards(*models: ModelCard, window: int | None = None) -> Mapping[str, ModelCard]:
    """Cards by name; with `window`, every one has that window."""
    return {card.name: card if window is None else replace(card, window=window) for card in models}


def _named(names: Iterable[str], like: ModelCard) -> tuple[ModelCard, ...]:
    return tuple(replace(like, name=name) for name in names)


ANTHROPIC_MODELS = (
    *_named(
        (
            "claude-fable-5-2",
            "claude-mythos-5-2",
            "claude-haiku-5-5",
            "claude-sonnet-5-5",
            "claude-opus-5-5",
            "claude-fable-5-1",
            "claude-mythos-5-1",
            "claude-sonnet-5",
            "claude-fable-5",
            "claude-mythos-5",
            "claude-opus-5",
            "claude-opus-4-8",
            "claude-opus-4-7",
            "claude-opus-4-6",
            "claude-sonnet-4-6",
        ),
        ModelCard(name=""),
    ),
    *_named(
        ("claude-haiku-4-5", "claude-opus-4-5", "claude-sonnet-4-5"), ModelCard(name="", takes_prefill=True)
    ),
)
OPENAI_MODELS = (
    *_named(
        (
            "gpt-6-astra",
            "gpt-6.2-astra",
            "gpt-6.1-sol",
            "gpt-6.2-sol",
            "gpt-6.1-terra",
            "gpt-6-sol",
            "gpt-6-luna",
            "gpt-5.6-sol",
            "gpt-5.6-terra",
            "gpt-5.6-luna",
            "gpt-5.5",
            "gpt-5.4",
            "gpt-5.4-mini",
            "gpt-5.4-nano",
            "gpt-5.2",
            "gpt-5.1",
            "gpt-5",
            "gpt-5-mini",
            "gpt-5-nano",
        ),
        ModelCard(
            name="",
            window=400_000,
            max_output=128_000,
            takes_max_tokens=False,
            takes_sampling=False,
            reasons=True,
        ),
    ),
    *_named(
        ("gpt-4.1", "gpt-4.1-mini", "gpt-4o", "gpt-4o-mini"),
        ModelCard(name="", window=128_000, max_output=16_384),
    ),
)
LOCAL_MODELS = _named(
    ("llama3.2", "qwen3:8b", "gemma3", "gpt-oss:20b"), ModelCard(name="", window=8_192, max_output=8_192)
)
