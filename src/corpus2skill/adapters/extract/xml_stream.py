"""Large XML parts read element by element: rows of a sheet never stand in memory all at once."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import BinaryIO, Literal, cast

from lxml import etree  # pyright: ignore[reportAttributeAccessIssue] - compiled, and ships no types

from corpus2skill.adapters.extract.xml_element import Element, refusal_of
from corpus2skill.errors import SourceRefused

Event = Literal["start", "end"]
_MOST_AT_ONCE = 10_000_000
"""Bytes of one element, whose tree takes many times as much memory; a full row of 16,384 cells has about one million."""


def events(
    stream: BinaryIO, names: Sequence[str], starts: Sequence[str] = ()
) -> Iterator[tuple[Event, Element]]:
    """Yield the elements of local `names` at their ends and those of `starts` at their beginnings too.

    An element is emptied when the next one is asked for. `starts` are never emptied.

    Raises:
        SourceRefused: `hostile` for any DTD or nesting without end, `corrupt`, `too_large` for one element; and
            what reading `stream` raises.
    """
    paced = _PacedStream(stream)
    parser = etree.iterparse(
        paced,
        events=("start", "end") if starts else ("end",),
        tag=[f"{{*}}{name}" for name in (*names, *starts)],
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
    )
    kept = frozenset(starts)
    is_checked = False
    try:
        for event, element in parser:
            if not is_checked and element.getroottree().docinfo.doctype:
                raise SourceRefused("hostile", "dtd")
            is_checked = True
            is_kept = bool(kept) and element.tag.rpartition("}")[2] in kept
            if event == "start" and not is_kept:
                continue
            yield event, cast("Element", element)
            if not is_kept:
                _empty(element)
                paced.rest()
    except etree.XMLSyntaxError as error:
        raise refusal_of(error, paced.beginning) from error


def _empty(element: etree._Element) -> None:
    """Let go of an element and of those before it, which their parent would keep."""
    element.clear(keep_tail=False)
    parent = element.getparent()
    if parent is not None:
        while element.getprevious() is not None:
            del parent[0]


class _PacedStream(io.RawIOBase):
    """Reads on only so far from one element to the next."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._read = 0
        self.beginning = b""
        """What was read first: a DTD stands there."""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        piece = self._stream.read(size)
        self.beginning = self.beginning or piece
        self._read += len(piece)
        if self._read > _MOST_AT_ONCE:
            raise SourceRefused("too_large", "element", limit=_MOST_AT_ONCE)
        return piece

    def rest(self) -> None:
        self._read = 0
