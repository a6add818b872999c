"""Every sentence that a person reads, in Japanese and English, under one set of keys."""

from __future__ import annotations

import json
from functools import cache
from importlib import resources

from corpus2skill.errors import Corpus2SkillError, Phrase

LANGUAGES = ("ja", "en")


@cache
def _table(language: str) -> dict[str, str]:
    file = resources.files("corpus2skill.messages") / f"{language}.json"
    return json.loads(file.read_text(encoding="utf-8"))


def message(language: str, key: str, /, **values: object) -> str:
    """Return the sentence of `key` in `language`, filled with `values`.

    Raises:
        KeyError: no such key, or a value that the sentence needs is missing.
    """
    return _table(language)[key].format(**values)


def has_message(key: str) -> bool:
    return key in _table("en")


def error_message(language: str, error: Corpus2SkillError) -> str:
    """Return what happened, what was wanted and what to do, for a person."""
    values = {
        name: message(language, value) if isinstance(value, Phrase) else value
        for name, value in error.values.items()
    }
    return message(language, f"error.{error.code}", **values)


def messages_below(language: str, beginnings: tuple[str, ...]) -> dict[str, str]:
    """Every sentence whose key begins with one of `beginnings`."""
    return {key: text for key, text in _table(language).items() if key.startswith(beginnings)}
