"""`ETag` and `If-Match` where two people may change the same thing: their tags are numbers."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Header

from corpus2skill.errors import Unseen

IfMatch = Annotated[
    str | None,
    Header(
        alias="If-Match",
        max_length=200,
        description="The `ETag` of what was looked at. Without it 428; 412 where it was changed since.",
    ),
]
_NO_TAG = -1
"""Not the number of anything."""
_MOST_DIGITS = 15


def etag(number: int) -> str:
    return f'"{number}"'


def seen_number(if_match: str | None) -> int | Literal["any"]:
    """The number that the caller has seen; -1 for a tag that none of ours is. `*`: whatever there is.

    Raises:
        Unseen: they do not say.
    """
    tag = (if_match or "").strip()
    if not tag:
        raise Unseen
    if tag == "*":
        return "any"
    digits = tag.removeprefix("W/").strip('"')
    is_ours = digits.isascii() and digits.isdecimal() and len(digits) <= _MOST_DIGITS
    return int(digits) if is_ours else _NO_TAG
