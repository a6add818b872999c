"""Program text on a PDF page: lines in a typewriter's font that stand apart from the prose around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from corpus2skill.adapters.extract.pdf_lines import Line
from corpus2skill.adapters.extract.pdf_stretches import by_stretches
from corpus2skill.adapters.extract.pdf_tables import Table

_APART = 1.3
"""A listing is this many of its sizes away from the prose above and below it, or set in another size."""
_PITCH = 2.6
"""Lines of one listing are at most this many sizes away from each other; one may be blank."""
_ADVANCE = 0.6
"""Width of a character in sizes, should a listing not tell it."""
_OTHER_SIZE = 0.05
_BEARING = 0.4
"""Room that narrow characters leave at their sides must not count as another space, in characters."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """Lines that stay as they are."""

    page: int
    text: str


def with_listings(items: Sequence[Line | Table]) -> list[Line | Table | Listing]:
    """Return what is on a page with the lines that make up listings replaced by them."""
    return by_stretches(items, _parted)


def _parted(lines: Sequence[Line]) -> list[Line | Listing]:
    found: list[Line | Listing] = []
    at = 0
    while at < len(lines):
        end = _end(lines, at)
        if end > at and _stands_apart(lines, at, end):
            found.append(_listing(lines[at:end]))
        else:
            end = max(end, at + 1)
            found += lines[at:end]
        at = end
    return found


def _end(lines: Sequence[Line], start: int) -> int:
    """Return where the run of lines in a typewriter's font that begins at `start` ends."""
    end = start
    while end < len(lines) and lines[end].is_mono and not lines[end].is_vertical:
        if end > start and not 0 < lines[end - 1].y - lines[end].y < _PITCH * lines[end].size:
            break
        end += 1
    return end


def _stands_apart(lines: Sequence[Line], start: int, end: int) -> bool:
    first, last = lines[start], lines[end - 1]
    above = start == 0 or _is_parted(lines[start - 1], first)
    return above and (end == len(lines) or _is_parted(last, lines[end]))


def _is_parted(above: Line, below: Line) -> bool:
    """True where no paragraph goes on from one line to the other."""
    gap, size = above.y - below.y, max(above.size, below.size)
    is_other = abs(above.size - below.size) > _OTHER_SIZE * size
    return is_other or not 0 < gap < _APART * size


def _listing(lines: Sequence[Line]) -> Listing:
    left = min(line.x0 for line in lines)
    advance = _advance(lines)
    texts: list[str] = []
    for above, line in pairwise([lines[0], *lines]):
        if above.y - line.y > _PITCH / 2 * 1.4 * line.size:
            texts.append("")
        texts.append(" " * round((line.x0 - left) / advance) + _spaced(line, advance))
    return Listing(page=lines[0].page, text="\n".join(texts))


def _advance(lines: Sequence[Line]) -> float:
    """Return the width of one character in points, by the longest stretch of characters of one width."""
    cells = [cell for line in lines for cell in line.cells if cell.text.isascii()]
    longest = max(cells, key=lambda cell: len(cell.text), default=None)
    if longest is None or len(longest.text) < 2:
        return _ADVANCE * lines[0].size
    return (longest.x1 - longest.x0) / len(longest.text)


def _spaced(line: Line, advance: float) -> str:
    """Return a line's text with as many spaces between its cells as there is room for."""
    text = line.cells[0].text
    for before, cell in pairwise(line.cells):
        text += " " * max(1, int((cell.x0 - before.x1) / advance + _BEARING)) + cell.text
    return text
