"""The number of a version in a path."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Path

from corpus2skill.errors import ThingNotFound

_MOST_DIGITS = 9
_Text = Annotated[str, Path(max_length=200, pattern=r"^[!-~]+$", description="The version's number.")]


def number_of(text: str) -> int:
    """Raises: ThingNotFound: no version has such a number."""
    if not (text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS):
        raise ThingNotFound("version", text)
    return int(text)


def _version(version: _Text) -> int:
    return number_of(version)


def _before(before: _Text) -> int:
    return number_of(before)


def _after(after: _Text) -> int:
    return number_of(after)


VersionNumber = Annotated[int, Depends(_version)]
BeforeNumber = Annotated[int, Depends(_before)]
AfterNumber = Annotated[int, Depends(_after)]
