"""The models there are by default, how much they can read, and how a model's name is written."""

from __future__ import annotations

import re

from corpus2skill.adapters.llm.prices import context_window_of
from corpus2skill.domain.model_name import ModelName, Role
from corpus2skill.errors import UnusableSettings

PROVIDERS = ("anthropic", "openai", "azure", "bedrock", "vertex")
UNKNOWN_WINDOW = 8_192
"""Tokens that a model nobody has measured is taken to read."""

_DEFAULTS: dict[str, dict[Role, str]] = {
    # The smallest writes titles and summaries and walks the tree, both without thinking, so that the reasons
    # for its steps come as text. A tree's branches are made by a few calls and used by every question.
    "anthropic": {
        "summarize": "claude-haiku-5-5",
        "group": "claude-sonnet-5-5",
        "navigate": "claude-haiku-5-5",
    },
    # Chat completions take tools from a reasoning model only at the effort `none`, which these know.
    "openai": {"summarize": "gpt-6-luna", "group": "gpt-6.1-terra", "navigate": "gpt-6.1-terra"},
}


def parse_model(text: str, role: Role) -> ModelName:
    """Return the model that `provider:model` means; a provider alone means its default for `role`.

    Raises:
        UnusableSettings: no such provider, or one that has no default; characters that no name has.
    """
    provider, _, model = text.strip().partition(":")
    if provider not in PROVIDERS or not model.isprintable():
        raise UnusableSettings("unknown_model", model=text, known=known_forms())
    if model.strip():
        return ModelName(provider, model.strip())
    defaults = _DEFAULTS.get(provider)
    if defaults is None:
        raise UnusableSettings("model_name_wanted", provider=provider)
    return ModelName(provider, defaults[role])


def known_forms() -> str:
    """Return how models are named, for an error's text: `anthropic[:MODEL], ..., azure:MODEL`."""
    return ", ".join(
        f"{provider}[:MODEL]" if provider in _DEFAULTS else f"{provider}:MODEL" for provider in PROVIDERS
    )


def context_window(name: ModelName, base_url: str | None = None) -> int:
    """Return the tokens that prompt and reply may have together; `UNKNOWN_WINDOW` for unknown models."""
    return known_window(name, base_url) or UNKNOWN_WINDOW


def known_window(name: ModelName, base_url: str | None = None) -> int | None:
    """Return the same where it is known."""
    # A gateway to Claude leads to the same model; other people's servers name theirs as they like.
    listed_at = None if name.provider == "anthropic" else base_url
    known = context_window_of(name, listed_at)
    if known is not None:
        return known
    is_claude = listed_at is None and re.search(r"claude-\w+-[4-9]", name.model) is not None
    return 200_000 if is_claude else None
