"""The texts that the compiler sends to language models."""

from __future__ import annotations

from functools import cache
from importlib import resources

from corpus2skill.domain.language import Language


@cache
def prompt_text(language: Language, name: str) -> str:
    """Return the text `prompts/<language>/<name>.md`, without the line end behind it."""
    file = resources.files("corpus2skill.compiler") / "prompts" / language / f"{name}.md"
    return file.read_text(encoding="utf-8").removesuffix("\n")
