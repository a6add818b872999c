"""How much a mail's headers may hold and how deep its parts may lie: what reads them takes the square of the length."""

from __future__ import annotations

from email.message import Message
from typing import cast

from corpus2skill.adapters.extract.mail_words import require_few_encoded
from corpus2skill.errors import SourceRefused

_LONGEST_HEADER = 500_000
"""Characters; the addresses of some thousand people."""
_LONGEST_OF_PART = 20_000
"""Characters of a header that says what a part is: a kind, a file name, an encoding."""
_MOST_OF_ALL = 2_000_000
"""Characters of the headers of all parts together."""
_MOST_PARTS = 2_000
_DEEPEST = 50
"""Parts within parts, mails within the mail counted."""


def require_bounded(message: Message) -> None:
    """Look at all parts, without recursion, before anything is made of them.

    Raises:
        SourceRefused: `too_large` (headers, parts), `hostile` (nesting).
    """
    waiting = [(message, 0)]
    headers: list[str] = []
    while waiting:
        part, depth = waiting.pop()
        if depth > _DEEPEST:
            raise SourceRefused("hostile", "nesting")
        headers += _headers(part)
        waiting += [(inner, depth + 1) for inner in _parts(part)]
    if sum(map(len, headers)) > _MOST_OF_ALL:
        raise SourceRefused("too_large", "headers", limit=_MOST_OF_ALL)
    require_few_encoded(headers)


def _headers(part: Message) -> list[str]:
    headers: list[str] = []
    for name, value in part.raw_items():
        header = str(value)
        limit = _LONGEST_OF_PART if name.lower().startswith("content-") else _LONGEST_HEADER
        if len(header) > limit:
            raise SourceRefused("too_large", "headers", limit=limit)
        headers.append(header)
    return headers


def _parts(part: Message) -> list[Message]:
    if not part.is_multipart():
        return []
    parts = cast("list[Message]", part.get_payload())
    if len(parts) > _MOST_PARTS:
        raise SourceRefused("too_large", "members", limit=_MOST_PARTS)
    return parts
