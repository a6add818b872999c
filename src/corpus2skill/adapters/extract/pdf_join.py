"""Joins the lines of a paragraph: Japanese without a space, other scripts with one, divided words as one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_JAPANESE = "[぀-ヿ一-鿿]"
_SPACED_EDGE = re.compile(rf"[A-Za-z0-9] {_JAPANESE}|{_JAPANESE} [A-Za-z0-9]")
_BARE_EDGE = re.compile(rf"[A-Za-z0-9]{_JAPANESE}|{_JAPANESE}[A-Za-z0-9]")
_EDGE = re.compile(rf"^(?:[A-Za-z0-9]{_JAPANESE}|{_JAPANESE}[A-Za-z0-9])$")
_ADDRESS_END = re.compile(r"(?:@|://|www\.)\S*[./\-_=&?@]$")
_ADDRESS_START = re.compile(r"[a-z0-9/]")
_LONGEST_ADDRESS = 200
_LAST_WORD = re.compile(r"[^\W\d_]+$")
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def is_ideographic(character: str) -> bool:
    """True for characters that are written without spaces between them."""
    return (
        "\u2e80" <= character <= "\ua4cf"
        or "\uf900" <= character <= "\ufaff"
        or "\uff00" <= character <= "\uffef"
    )


def joined_lines(texts: Sequence[str]) -> str:
    joined = ""
    for text in texts:
        joined = f"{joined}{_gap(joined, text)}{text}"
    return joined


class LineJoiner:
    """Knows how one document writes, so that what its lines divide is put together in its own way."""

    def __init__(self, texts: Iterable[str]) -> None:
        texts = list(texts)
        self._words = {word.lower() for text in texts for word in _WORD.findall(text)}
        spaced = sum(len(_SPACED_EDGE.findall(text)) for text in texts)
        self._spaces_edges = spaced > sum(len(_BARE_EDGE.findall(text)) for text in texts)

    def joined(self, before: str, after: str) -> str:
        """Join two lines of a sentence; where Latin meets Japanese, as most of the document does."""
        if _ADDRESS_END.search(before[-_LONGEST_ADDRESS:]) and _ADDRESS_START.match(after):
            return f"{before}{after}"
        if self._spaces_edges and _EDGE.search(f"{before[-1:]}{after[:1]}"):
            return f"{before} {after}"
        return joined_lines([before, after])

    def dehyphenated(self, before: str, after: str) -> str:
        """Join a line that ended in a hyphen (already taken off) with the next."""
        last, first = _LAST_WORD.search(before), _FIRST_WORD.match(after)
        if not last or not first:
            return f"{before}-{after}"
        left, right = last.group().lower(), first.group().lower()
        if f"{left}{right}" in self._words:
            return f"{before}{after}"
        is_compound = f"{left}-{right}" in self._words or not first.group().islower()
        return f"{before}-{after}" if is_compound else f"{before}{after}"


def _gap(before: str, after: str) -> str:
    if not before or not after or is_ideographic(before[-1]) or is_ideographic(after[0]):
        return ""
    return " "
