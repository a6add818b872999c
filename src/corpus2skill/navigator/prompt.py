"""The navigator's instructions to the model."""

from __future__ import annotations

from functools import cache
from importlib import resources

from corpus2skill.domain.language import Language
from corpus2skill.domain.session import Channel
from corpus2skill.messages import message

PROMPT_VERSION = "navigator-2"
"""Raised with every change of wording in `prompts/`; kept in each record."""


def system_prompt(language: Language, channel: Channel, fetches: int) -> str:
    """Return the instructions in the language of the answer. They stay the same for the whole run."""
    values = {"phrase": message(language, "not_found_phrase"), "fetches": str(fetches)}
    parts = (_text(language, "system"), _text(language, channel))
    return "\n".join(parts).format(**values)


@cache
def _text(language: Language, name: str) -> str:
    file = resources.files("corpus2skill.navigator") / "prompts" / language / f"{name}.md"
    return file.read_text(encoding="utf-8")
