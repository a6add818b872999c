"""What a record keeps of an error, so that it can be said in any reader's language."""

from __future__ import annotations

from corpus2skill.errors import Corpus2SkillError

DETAIL_LIMIT = 500
"""Characters of an error's text, and of each of its values, that a record keeps."""


def error_detail(error: BaseException | None) -> str | None:
    """Return the text of one of our own errors; a stranger's may hold anything, a key too."""
    return str(error)[:DETAIL_LIMIT] if isinstance(error, Corpus2SkillError) else None


def error_code(error: BaseException | None) -> str | None:
    return error.code if isinstance(error, Corpus2SkillError) else None


def error_values(error: BaseException | None) -> dict[str, str | int | float]:
    if not isinstance(error, Corpus2SkillError):
        return {}
    return {
        name: value if isinstance(value, int | float) else str(value)[:DETAIL_LIMIT]
        for name, value in error.values.items()
    }
