"""From bytes to characters: exactly, or not at all.

In order: a byte order mark, ISO-2022-JP escapes, strict UTF-8, UTF-16 by its zeros, then a detector's guess
decoded strictly. Nothing is ever replaced: a byte that does not fit refuses the whole document.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable

import chardet

from corpus2skill.adapters.extract.japanese_codecs import (
    decode_cp932,
    decode_euc_jp,
    decode_iso2022_jp,
    has_iso2022_escapes,
)
from corpus2skill.adapters.extract.text_look import (
    has_accents_only,
    has_common_kanji_only,
    has_glued_kanji,
    has_kana,
    has_mostly_marks,
    is_korean,
    is_likely_utf16,
    japanese_look,
    require_readable,
    word_look,
)
from corpus2skill.errors import SourceRefused

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SHIFTED = re.compile(r"shift|sjis|cp932|windows-31j|ms_?kanji|mskanji|x-ms-cp932", re.IGNORECASE)
_UNIX = re.compile(r"euc[-_]?(jp|jis)|ujis", re.IGNORECASE)
_SEVEN_BIT = re.compile(r"iso-?2022-?jp|csiso2022jp|jis7", re.IGNORECASE)
_LATIN = re.compile(r"^(iso-?8859-?1|latin-?1|us-ascii|ascii)$", re.IGNORECASE)

_HALF_WIDTH_IN_EUC = re.compile(
    rb"(?=.*\x8e)(?:[\x00-\x7f]|\x8e[\xa1-\xdf]|[\xa1\xa3][\xa1-\xfe])*", re.DOTALL
)
"""Nothing but half-width kana and marks as EUC-JP writes them; as CP932 it would be kanji of one row only."""

_SAMPLE = 200_000
"""Characters whose look is judged; decoding itself always covers all of the document."""
_LIKELY = 0.9
_POSSIBLE = 0.5
_CLEARLY_BETTER = 0.05


def decoded(data: bytes) -> str:
    """Return the text that `data` is.

    Raises:
        SourceRefused: `undecodable`, where no encoding fits or the text was damaged before it was saved.
    """
    text = _from_mark(data)
    if text is None:
        text = _from_escapes(data)
    if text is None:
        text = _from_utf8(data)
    if text is None:
        text = _from_zeros(data)
    if text is None:
        text = _from_guess(data)
    require_readable(text)
    return text


def decoded_as(data: bytes, label: str) -> str | None:
    """Return `data` decoded strictly as the encoding that a document declares, None where it does not fit.

    `label` is any name that is in use: `x-sjis` and all its kin are read as CP932.
    """
    decode = _decoder(label)
    return None if decode is None else _tried(decode, data)


def _from_mark(data: bytes) -> str | None:
    for mark, codec in _MARKS:
        if data.startswith(mark):
            try:
                return data.decode(codec)
            except UnicodeDecodeError as error:
                raise SourceRefused("undecodable", "damaged", encoding=codec, byte=error.start) from error
    return None


def _from_escapes(data: bytes) -> str | None:
    return _tried(decode_iso2022_jp, data) if has_iso2022_escapes(data) else None


def _from_utf8(data: bytes) -> str | None:
    if b"\0" in data:
        return None
    return _tried(lambda all_bytes: all_bytes.decode("utf-8"), data)


def _from_zeros(data: bytes) -> str | None:
    """UTF-16 without a mark: one of the two byte orders gives text and the other does not."""
    if b"\0" not in data:
        return None
    if len(data) % 2 == 0:
        little, big = _utf16(data, "utf-16-le"), _utf16(data, "utf-16-be")
        if (little is None) != (big is None):
            return little if big is None else big
    raise SourceRefused("undecodable", "binary")


def _utf16(data: bytes, codec: str) -> str | None:
    text = _tried(lambda all_bytes: all_bytes.decode(codec), data)
    return text if text is not None and is_likely_utf16(text) else None


def _from_guess(data: bytes) -> str:
    """The Japanese reading, or the detector's foreign one; refused where neither is clearly the right one."""
    japanese, foreign = _japanese_reading(data), _foreign_reading(data)
    if japanese is None or foreign is None:
        text = foreign if japanese is None else japanese
    else:
        text = _clear_winner(japanese, foreign)
    if text is None:
        raise SourceRefused("undecodable")
    return text


def _clear_winner(japanese: str, foreign: str) -> str | None:
    japanese_start, foreign_start = japanese[:_SAMPLE], foreign[:_SAMPLE]
    if has_kana(japanese_start) or has_mostly_marks(japanese_start):
        return japanese
    if is_korean(foreign_start):
        return foreign
    is_common = has_common_kanji_only(japanese_start)
    if has_accents_only(foreign_start) and not (is_common and not has_glued_kanji(japanese_start)):
        return foreign
    return japanese if is_common else None


def _japanese_reading(data: bytes) -> str | None:
    """Return the one Japanese reading of `data`; None where there is none, or two are about as likely."""
    if _HALF_WIDTH_IN_EUC.fullmatch(data):
        return _tried(decode_euc_jp, data)
    looks = {
        text: japanese_look(text[:_SAMPLE])
        for text in (_tried(decode_cp932, data), _tried(decode_euc_jp, data))
        if text is not None
    }
    if not looks:
        return None
    marked = [text for text in looks if has_mostly_marks(text[:_SAMPLE])]
    if len(marked) == 1:
        return marked[0]
    best, *others = sorted(looks, key=looks.__getitem__, reverse=True)
    if others:
        return best if looks[best] >= _LIKELY and looks[best] - looks[others[0]] >= _CLEARLY_BETTER else None
    return best if looks[best] >= _POSSIBLE else None


def _foreign_reading(data: bytes) -> str | None:
    guess = chardet.detect(data, prefer_superset=True)["encoding"]
    if not guess or _is_japanese(guess):
        return None
    decode = _decoder(guess)
    text = _tried(decode, data) if decode else None
    return text if text is not None and word_look(text[:_SAMPLE]) >= _LIKELY else None


def _is_japanese(label: str) -> bool:
    return bool(_SHIFTED.search(label) or _UNIX.search(label) or _SEVEN_BIT.search(label))


def _decoder(label: str) -> Callable[[bytes], str] | None:
    label = label.strip().strip("\"'")
    if _SHIFTED.search(label):
        return decode_cp932
    if _UNIX.search(label):
        return decode_euc_jp
    if _SEVEN_BIT.search(label):
        return decode_iso2022_jp
    codec = "cp1252" if _LATIN.match(label) else label
    if not _is_text_codec(codec):
        return None
    return lambda data: data.decode(codec)


def _is_text_codec(codec: str) -> bool:
    try:
        b" ".decode(codec)
    except UnicodeDecodeError:
        return True
    except (LookupError, ValueError):
        return False
    return True


def _tried(decode: Callable[[bytes], str], data: bytes) -> str | None:
    try:
        return decode(data)
    except UnicodeDecodeError:
        return None
