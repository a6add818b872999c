"""The lines of a PDF page, with what their characters' places and fonts say."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pypdfium2.raw as pdfium
from pypdfium2 import PdfTextPage

from corpus2skill.adapters.extract.pdf_glyphs import cleaned
from corpus2skill.adapters.extract.pdf_rules import Rule

_HYPHEN = 0x02
"""What pdfium gives for a hyphen at a line end, instead of the line end."""
_LINE_END, _CARRIAGE_RETURN = 0x0A, 0x0D
_CELL_GAP = 0.45
"""A gap of this many character sizes may part two cells; whether it does, the lines around it say."""
_AT_WALL = 1.0
"""Points that a character may reach over a wall."""
_SLANT = math.radians(10)
_BOLD = 600
_MONO_NAMES = ("mono", "courier", "consol", "menlo", "typewriter", "cmtt")
_PROPORTIONAL = ("monotype",)
_BOLD_NAMES = ("bold", "black", "heavy", "-b,", "-w6", "-w7", "-w8", "-w9")
_DEFAULT_SIZE = 10.0
_LAST_CODE = 0x10FFFF


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A stretch of a line without a wide gap. Places in points, from the left."""

    text: str
    x0: float
    x1: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One line as it stands on the page. Vertical lines are turned: `x` runs along the line, `y` falls."""

    page: int
    cells: tuple[Cell, ...]
    y: float
    """Of the base line, in points from below."""
    size: float
    is_bold: bool = False
    is_mono: bool = False
    """True where it begins, and mostly goes on, in a typewriter's font."""
    is_hyphenated: bool = False
    """True where a word goes on in the next line."""
    is_vertical: bool = False
    column_end: float | None = None
    """Where full lines of its column end; None where the lines of the page tell."""

    @property
    def text(self) -> str:
        return " ".join(cell.text for cell in self.cells)

    @property
    def x0(self) -> float:
        return self.cells[0].x0

    @property
    def x1(self) -> float:
        return self.cells[-1].x1


def lines_of(textpage: PdfTextPage, page: int, walls: Sequence[Rule] = ()) -> list[Line]:
    """Return the lines of a page in reading order; slanted ones (watermarks) are left out.

    `walls` are vertical rules: text on both sides of one is not of one cell, however close it comes.
    """
    characters = _Characters(textpage, walls)
    lines = [
        line
        for start, end, is_hyphenated in _spans(characters.codes)
        if (line := _line(characters, page, start, end, is_hyphenated=is_hyphenated)) is not None
    ]
    vertical = sum(len(line.text) for line in lines if line.is_vertical)
    if vertical * 2 > sum(len(line.text) for line in lines):
        lines.sort(key=lambda line: -line.y)
    return lines


class _Characters:
    """The characters of one page by their index; each question is one call into the library."""

    def __init__(self, textpage: PdfTextPage, walls: Sequence[Rule]) -> None:
        self._walls = walls
        self._page = textpage.raw
        self.codes = [pdfium.FPDFText_GetUnicode(self._page, at) for at in range(textpage.count_chars())]
        self._x, self._y = ctypes.c_double(), ctypes.c_double()
        self._box = (ctypes.c_double(), ctypes.c_double(), ctypes.c_double(), ctypes.c_double())
        self._matrix = pdfium.FS_MATRIX()
        self._name = ctypes.create_string_buffer(128)
        self._flags = ctypes.c_int()
        self._looks: dict[bytes, tuple[bool, bool]] = {}

    def origin(self, at: int) -> tuple[float, float]:
        pdfium.FPDFText_GetCharOrigin(self._page, at, self._x, self._y)
        return self._x.value, self._y.value

    def box(self, at: int) -> tuple[float, float, float, float]:
        """Left, right, bottom, top."""
        pdfium.FPDFText_GetCharBox(self._page, at, *self._box)
        left, right, bottom, top = self._box
        return left.value, right.value, bottom.value, top.value

    def size(self, at: int) -> float:
        """The size that is seen: the font's, scaled by the text's matrix."""
        size = pdfium.FPDFText_GetFontSize(self._page, at)
        if pdfium.FPDFText_GetMatrix(self._page, at, self._matrix):
            size *= math.hypot(self._matrix.c, self._matrix.d)
        return abs(size) or _DEFAULT_SIZE

    def look(self, at: int) -> tuple[bool, bool]:
        """Bold, and of fixed pitch."""
        pdfium.FPDFText_GetFontInfo(self._page, at, self._name, len(self._name), self._flags)
        name = self._name.value
        if name not in self._looks:
            self._looks[name] = _look_of(name.decode("utf-8", "ignore").lower())
        is_bold, is_mono = self._looks[name]
        return is_bold or pdfium.FPDFText_GetFontWeight(self._page, at) >= _BOLD, is_mono

    def angle(self, at: int) -> float:
        return pdfium.FPDFText_GetCharAngle(self._page, at)

    def walls(self, y: float) -> list[float]:
        """Return where walls stand at one height, in points from the left."""
        return [wall.at for wall in self._walls if wall.covers(y)]

    def text(self, start: int, end: int) -> str:
        return cleaned("".join(chr(code) for code in self.codes[start:end] if 0 < code <= _LAST_CODE))


def _look_of(font: str) -> tuple[bool, bool]:
    is_mono = any(name in font for name in _MONO_NAMES) and not any(name in font for name in _PROPORTIONAL)
    return any(name in font for name in _BOLD_NAMES), is_mono


def map_error_share(textpage: PdfTextPage) -> float:
    """Return the share of characters that the file gives no Unicode for; readable files have them too."""
    count = textpage.count_chars()
    flagged = sum(pdfium.FPDFText_HasUnicodeMapError(textpage.raw, at) == 1 for at in range(count))
    return flagged / count if count else 0.0


def _spans(codes: list[int]) -> Iterator[tuple[int, int, bool]]:
    """Yield start, end and whether the line ends in the middle of a word."""
    start = 0
    for at, code in enumerate(codes):
        if code in {_LINE_END, _CARRIAGE_RETURN, _HYPHEN}:
            if at > start:
                yield start, at, code == _HYPHEN
            start = at + 1
    if len(codes) > start:
        yield start, len(codes), False


def _line(characters: _Characters, page: int, start: int, end: int, *, is_hyphenated: bool) -> Line | None:
    codes = characters.codes
    while start < end and _is_space(codes[start]):
        start += 1
    while end > start and _is_space(codes[end - 1]):
        end -= 1
    if start == end or _is_slanted(characters.angle(start)):
        return None
    samples = _samples(codes, start, end)
    sizes = sorted(map(characters.size, samples))
    looks = list(map(characters.look, samples))
    is_vertical = _is_vertical(characters, start, end)
    cells = _cells(characters, start, end, sizes[len(sizes) // 2], is_vertical=is_vertical)
    x, y = characters.origin(start)
    return (
        Line(
            page=page,
            cells=cells,
            y=x if is_vertical else y,
            size=sizes[len(sizes) // 2],
            is_bold=_is_mostly(is_bold for is_bold, _ in looks),
            is_mono=looks[0][1] and _is_mostly(is_mono for _, is_mono in looks),
            is_hyphenated=is_hyphenated,
            is_vertical=is_vertical,
        )
        if cells
        else None
    )


def _samples(codes: list[int], start: int, end: int) -> list[int]:
    """Return places of up to five characters, from the first to the last."""
    places = {start + (end - 1 - start) * part // 4 for part in range(5)}
    return [at for at in sorted(places) if not _is_space(codes[at])]


def _is_mostly(signs: Iterable[bool]) -> bool:
    """True where all are, or all but one of four and more (a mark may be set in another font)."""
    found = list(signs)
    return sum(found) >= len(found) - (len(found) >= 4)


def _cells(
    characters: _Characters, start: int, end: int, size: float, *, is_vertical: bool
) -> tuple[Cell, ...]:
    """Part a line where it has wide gaps. Gaps stand at spaces: the library puts one into every gap."""
    cells: list[Cell] = []
    first = at = start
    walls = [] if is_vertical else characters.walls(characters.origin(start)[1])
    while at < end:
        if not _is_space(characters.codes[at]):
            at += 1
            continue
        after = at
        while _is_space(characters.codes[after]):
            after += 1
        begin = _along(characters, after, is_vertical)[0]
        gap = begin - _along(characters, at - 1, is_vertical)[1]
        is_gap = gap > _CELL_GAP * size and not _is_wide_space(characters.codes[at:after])
        if is_gap or (walls and _is_behind_wall(walls, characters.box(first)[0], begin)):
            cells.append(_cell(characters, first, at, is_vertical=is_vertical))
            first = after
        at = after
    cells.append(_cell(characters, first, end, is_vertical=is_vertical))
    return tuple(cell for cell in cells if cell.text)


def _is_behind_wall(walls: Sequence[float], first: float, begin: float) -> bool:
    """True where a wall stands between a cell's first character and what comes next."""
    return any(first < wall - _AT_WALL and begin > wall - _AT_WALL for wall in walls)


def _cell(characters: _Characters, start: int, end: int, *, is_vertical: bool) -> Cell:
    x0 = _along(characters, start, is_vertical)[0]
    x1 = _along(characters, end - 1, is_vertical)[1]
    return Cell(text=characters.text(start, end), x0=x0, x1=x1)


def _along(characters: _Characters, at: int, is_vertical: bool) -> tuple[float, float]:
    """Return where a character begins and ends along its line."""
    left, right, bottom, top = characters.box(at)
    return (-top, -bottom) if is_vertical else (left, right)


def _is_vertical(characters: _Characters, start: int, end: int) -> bool:
    if end - start < 2:
        return False
    (x0, y0), (x1, y1) = characters.origin(start), characters.origin(end - 1)
    return abs(y0 - y1) > 2 * abs(x0 - x1) and y0 > y1


def _is_slanted(angle: float) -> bool:
    off = abs(angle) % (math.pi / 2)
    return _SLANT < off < math.pi / 2 - _SLANT


def _is_space(code: int) -> bool:
    return code in {0x20, 0xA0, 0x09, 0x3000}


def _is_wide_space(codes: list[int]) -> bool:
    """An ideographic space that somebody typed is a space, not the gap between two cells."""
    return 0x3000 in codes
