"""Characters of a mail: labels of encodings that lie, headers in three ages of standards."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable
from email.errors import MessageError
from email.header import decode_header
from email.utils import parsedate_to_datetime
from functools import lru_cache

from corpus2skill.adapters.extract.japanese_codecs import has_iso2022_escapes
from corpus2skill.adapters.extract.text_encoding import decoded, decoded_as
from corpus2skill.adapters.extract.text_look import require_readable
from corpus2skill.adapters.extract.text_shape import in_one_line
from corpus2skill.errors import SourceRefused

_MOST_ENCODED = 3_000
"""Encoded words of one mail: each may be in an encoding of its own, that has to be guessed."""
_SINGLE_BYTE = re.compile(r"(iso-?8859|windows-?125|latin|us-?ascii|ascii|cp125|ansi)", re.IGNORECASE)
"""Labels that any bytes fit: what they were put on may be anything."""
_SPLIT = re.compile(r"(=\?[^?\s]+\?[BbQq]\?[^?\s]*\?=)\s+(?==\?)")
_BROKEN_HEADER = (ValueError, LookupError, AssertionError, MessageError)


def body_text(data: bytes, label: str | None) -> str:
    """Return a body's text: as its label says where that fits exactly, else as its bytes look.

    Raises:
        SourceRefused: `undecodable`.
    """
    text = None
    if label and not has_iso2022_escapes(data) and (data.isascii() or not _SINGLE_BYTE.match(label)):
        text = decoded_as(data, label)
    if text is None or _is_unlikely(text):
        return decoded(data)
    return text


def require_few_encoded(headers: Iterable[str]) -> None:
    """Raises: SourceRefused (`too_large`) where a mail's headers have more encoded words than any mail means to."""
    if sum(header.count("=?") for header in headers) > _MOST_ENCODED:
        raise SourceRefused("too_large", "encoded_words", limit=_MOST_ENCODED)


@lru_cache(maxsize=256)
def header_text(raw: str | None) -> str:
    """Return a header in one line. `raw` is as it came, bytes beyond ASCII as surrogates.

    A file name is asked for again and again: what was found is kept.
    """
    if not raw:
        return ""
    raw = _SPLIT.sub(r"\1", raw.replace("\r", "").replace("\n", ""))
    try:
        pieces = decode_header(raw)
    except _BROKEN_HEADER:
        return in_one_line(_readable(raw))
    return in_one_line("".join(_piece(piece, label) for piece, label in pieces))


def header_date(raw: str | None) -> str:
    """Return the date of a mail with the clock and the zone of its sender; what is no date stays as it is."""
    try:
        moment = parsedate_to_datetime(raw or "")
    except (ValueError, TypeError, IndexError, OverflowError):
        return header_text(raw)
    return shown_date(moment)


def shown_date(moment: dt.datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M %z").strip()


def _is_unlikely(text: str) -> bool:
    try:
        require_readable(text)
    except SourceRefused:
        return True
    return False


def _piece(piece: bytes | str, label: str | None) -> str:
    if isinstance(piece, str):
        return _readable(piece)
    if label is None:
        return _readable(piece.decode("ascii", "surrogateescape"))
    try:
        return body_text(piece, label)
    except SourceRefused:
        return piece.decode("latin-1")


def _readable(raw: str) -> str:
    """Old programs wrote Japanese into headers as it was: in seven bits with escapes, or in eight."""
    data = raw.encode("utf-8", "surrogateescape")
    if data.isascii() and not has_iso2022_escapes(data):
        return raw
    try:
        return decoded(data)
    except SourceRefused:
        return data.decode("latin-1")
