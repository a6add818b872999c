"""The process that draws one page of a PDF, with what stands on it marked: `python -m ... PDF LABEL WIDTH`.

The passage comes by standard input as UTF-8, the picture goes to standard output as PNG. Memory and processor
time are bounded before a byte of the document is read.
"""

from __future__ import annotations

import resource
import struct
import sys
import unicodedata
import zlib
from collections.abc import Iterator

_MOST_MEMORY = 1_500_000_000
_MOST_SECONDS = 20
_MOST_PIXELS = 12_000_000
_LEAST_PIECE = 4
_MARK = (255, 214, 51)
_MARKED_SHARE = 0.6


def main(path: str, label: str, width: int) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (_MOST_MEMORY, _MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (_MOST_SECONDS, _MOST_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    passage = sys.stdin.buffer.read().decode("utf-8", "replace")
    sys.stdout.buffer.write(_drawn(path, label, width, passage))


def _drawn(path: str, label: str, width: int, passage: str) -> bytes:
    import numpy as np
    import pypdfium2

    document = pypdfium2.PdfDocument(path)
    found = document[_number(document, label)]
    across, high = found.get_size()
    scale = min(width / across, (_MOST_PIXELS / (across * high)) ** 0.5)
    pixels = found.render(scale=scale, rev_byteorder=True, prefer_bgrx=False).to_numpy()[:, :, :3].copy()
    is_marked = np.zeros(pixels.shape[:2], dtype=bool)
    for left, bottom, right, top in _boxes(found, passage):
        rows = slice(max(0, int((high - top) * scale) - 1), max(0, int((high - bottom) * scale) + 2))
        columns = slice(max(0, int(left * scale)), max(0, int(right * scale) + 1))
        is_marked[rows, columns] = True
    under = pixels[is_marked].astype(np.float64)
    pixels[is_marked] = under * (1 - _MARKED_SHARE) + under * np.array(_MARK) / 255 * _MARKED_SHARE
    return _png(pixels.tobytes(), pixels.shape[1], pixels.shape[0])


def _number(document: object, label: str) -> int:
    """The page of that label, as `pdf.py` has labels.

    Raises:
        StopIteration: there is none.
    """
    import pypdfium2

    assert isinstance(document, pypdfium2.PdfDocument)
    labels = ((document.get_page_label(at).strip() or str(at + 1), at) for at in range(len(document)))
    return next(at for found, at in labels if found == label)


def _boxes(page: object, passage: str) -> Iterator[tuple[float, float, float, float]]:
    """Left, bottom, right and top of every sign of the passage that stands on the page, in points."""
    import pypdfium2

    assert isinstance(page, pypdfium2.PdfPage)
    text = page.get_textpage()
    signs: list[str] = []
    places: list[int] = []
    for place in range(text.count_chars()):
        for sign in _folded(text.get_text_range(place, 1)):
            signs.append(sign)
            places.append(place)
    on_page = "".join(signs)
    for first, last in _found(on_page, passage):
        for place in dict.fromkeys(places[first:last]):
            yield text.get_charbox(place, loose=True)


def _found(on_page: str, passage: str) -> Iterator[tuple[int, int]]:
    """Where lines of the passage, or sentences where a line is broken by something else, stand on the page."""
    behind = 0
    for line in passage.split("\n"):
        for piece in _pieces(on_page, _folded(line)):
            at = on_page.find(piece, behind)
            at = on_page.find(piece) if at < 0 else at
            if at >= 0:
                yield at, at + len(piece)
                behind = at + len(piece)


def _pieces(on_page: str, line: str) -> list[str]:
    if line in on_page:
        return [line] if line else []
    pieces = line.replace("。", "。\n").split("\n")
    return [piece for piece in pieces if len(piece) >= _LEAST_PIECE]


def _folded(text: str) -> str:
    """`text` without white space and control characters, as letters are told from each other."""
    folded = unicodedata.normalize("NFKC", text)
    return "".join(sign for sign in folded if not sign.isspace() and unicodedata.category(sign)[0] != "C")


def _png(pixels: bytes, width: int, height: int) -> bytes:
    """Three bytes a pixel as PNG (ISO/IEC 15948)."""
    line = width * 3
    rows = b"".join(b"\x00" + pixels[at : at + line] for at in range(0, line * height, line))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 6)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(map(_part, parts))


def _part(part: tuple[bytes, bytes]) -> bytes:
    name, data = part
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
