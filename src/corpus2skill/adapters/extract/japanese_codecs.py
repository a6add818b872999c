"""The Japanese encodings as they are met: CP932, and EUC-JP and ISO-2022-JP with the NEC and IBM rows.

Standard characters are read as Python's `euc_jp` reads them (`〜` is U+301C), so what Python or Unix tools wrote
comes back exactly. Characters that only the vendors' sets have are read as CP932 reads them: NEC row 13
and the NEC selection of IBM's extensions (rows 89 to 92) in two bytes, IBM's extensions in three.
"""

from __future__ import annotations

import codecs
import re

_IBM_IN_THREE_BYTES = (
    "ⅰⅱⅲⅳⅴⅵⅶⅷⅸⅹⅠⅡⅢⅣⅤⅥⅦⅧⅨⅩ＇＂㈱№℡炻仼僴凬匇匤﨎咊坙﨏塚增寬峵嵓﨑德悅愠敎昻晥晴朗栁﨓﨔橫櫢淸淲瀨凞猪甁皂皞益礰"
    "礼神祥福竧靖精綠緖羽荢﨟薰蘒﨡蠇諸譿賴赶﨣﨤逸郞都鄕﨧﨨閒隆﨩霻靍靑飯飼館馞髙魲鶴黑"
)
"""The characters from 8F F3 F3 to 8F F4 FE, in order."""

_ISO2022_ESCAPE = re.compile(rb"\x1b(\$[@B]|\$\([@BD]|\([BJIH])")
_STRAY = re.compile("[\x80\xa0\uf8f0-\uf8f3]")
_TO_EIGHT_BITS = bytes(byte | 0x80 if 0x21 <= byte <= 0x7E else byte for byte in range(256))
_ROMAN = str.maketrans({"\\": "¥", "~": "‾"})


def has_iso2022_escapes(data: bytes) -> bool:
    """True where `data` is seven-bit and switches to a Japanese set somewhere."""
    match = _ISO2022_ESCAPE.search(data)
    return match is not None and data.isascii()


def decode_iso2022_jp(data: bytes) -> str:
    """Decode ISO-2022-JP in all its dialects (JIS X 0201 kana and JIS X 0212 too).

    Raises:
        UnicodeDecodeError: at a byte pair that no set has.
    """
    pieces = _ISO2022_ESCAPE.split(data)
    text = [pieces[0].decode("ascii")]
    for escape, piece in zip(pieces[1::2], pieces[2::2], strict=True):
        text.append(_decode_segment(escape, piece))
    return "".join(text)


def decode_cp932(data: bytes) -> str:
    """Decode CP932, strictly: Python's codec also takes bytes that are no character (80, A0, FD, FE, FF).

    Raises:
        UnicodeDecodeError: at bytes that are no character.
    """
    text = data.decode("cp932")
    if stray := _STRAY.search(text):
        at = len(text[: stray.start()].encode("cp932"))
        raise UnicodeDecodeError("cp932", data, at, at + 1, "no character")
    return text


def decode_euc_jp(data: bytes) -> str:
    """Decode EUC-JP with the NEC and IBM rows.

    Raises:
        UnicodeDecodeError: at bytes that are no character.
    """
    return data.decode("euc_jp", errors=_VENDOR_ROWS)


def _decode_segment(escape: bytes, piece: bytes) -> str:
    if escape == b"(B":
        return piece.decode("ascii")
    if escape in {b"(J", b"(H"}:
        return piece.decode("ascii").translate(_ROMAN)
    eight = piece.translate(_TO_EIGHT_BITS)
    if escape == b"(I":
        return re.sub(rb"[\xa1-\xdf]", lambda kana: b"\x8e" + kana.group(), eight).decode("euc_jp")
    if escape == b"$(D":
        return decode_euc_jp(re.sub(rb"[\xa1-\xfe][\xa1-\xfe]", lambda pair: b"\x8f" + pair.group(), eight))
    return decode_euc_jp(eight)


def _vendor_character(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeDecodeError):
        raise error
    code = error.object[error.start : error.start + 3]
    if code[0] == 0x8F:
        return _ibm_character(error, code), error.start + 3
    return _nec_character(error, code[:2]), error.start + 2


def _ibm_character(error: UnicodeDecodeError, code: bytes) -> str:
    if len(code) == 3 and code[1] in {0xF3, 0xF4} and 0xA1 <= code[2] <= 0xFE:
        place = (code[1] - 0xF3) * 94 + code[2] - 0xF3
        if place >= 0:
            return _IBM_IN_THREE_BYTES[place]
    raise error


def _nec_character(error: UnicodeDecodeError, code: bytes) -> str:
    if len(code) == 2 and 0xA1 <= code[0] <= 0xFE and 0xA1 <= code[1] <= 0xFE:
        try:
            return _shifted(code[0] - 0x80, code[1] - 0x80).decode("cp932")
        except UnicodeDecodeError:
            raise error from None
    raise error


def _shifted(row: int, cell: int) -> bytes:
    """Return the Shift_JIS bytes of a JIS row and cell (0x21 to 0x7E each)."""
    lead = (row - 1) // 2 + (0x71 if row < 0x5F else 0xB1)
    if row % 2 == 0:
        return bytes((lead, cell + 0x7E))
    return bytes((lead, cell + 0x1F + (cell >= 0x60)))


_VENDOR_ROWS = "corpus2skill.vendor_rows"
codecs.register_error(_VENDOR_ROWS, _vendor_character)
