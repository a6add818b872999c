"""The rules drawn on a PDF page, and the grids of cells that they make."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pypdfium2.raw as pdfium
from pypdfium2 import PdfPage

_THIN = 2.0
"""Points; what is thicker is a bar, not a rule."""
_SHORTEST = 5.0
_NEAR = 3.0
"""Points within which two rules meet, or are the same."""
_MOST_OBJECTS = 20_000
_MOST_RULES = 2_000
"""More of them are a drawing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A straight line, horizontal or vertical. `at` is where it stands, from `start` to `end` it runs."""

    at: float
    start: float
    end: float

    def covers(self, place: float) -> bool:
        return self.start - _NEAR <= place <= self.end + _NEAR


@dataclass(frozen=True, slots=True, kw_only=True)
class Grid:
    """Rules that hang together and make cells. Points from the left and from below."""

    horizontal: tuple[Rule, ...]
    """From the top."""
    vertical: tuple[Rule, ...]
    xs: tuple[float, ...]
    """Where columns begin, and where the last one ends."""
    ys: tuple[float, ...]
    """Where rows begin, from the top, and where the last one ends."""

    def holds(self, x: float, y: float) -> bool:
        return self.xs[0] - _NEAR <= x <= self.xs[-1] and self.ys[-1] <= y <= self.ys[0]

    def cell(self, x: float, y: float) -> tuple[int, int]:
        """Return the row and column in which the cell around a place begins: cells may span several of both."""
        row, column = _interval([-at for at in self.ys], -y), _interval(self.xs, x)
        while row and not self._is_parted(self.horizontal, self.ys[row], self._middle(self.xs, column)):
            row -= 1
        while column and not self._is_parted(self.vertical, self.xs[column], y):
            column -= 1
        return row, column

    def rows_of(self, row: int, column: int) -> Iterator[int]:
        """Yield the rows over which the cell that begins at `row` goes down."""
        yield row
        for below in range(row + 1, len(self.ys) - 1):
            if self._is_parted(self.horizontal, self.ys[below], self._middle(self.xs, column)):
                return
            yield below

    def _is_parted(self, rules: Sequence[Rule], at: float, place: float) -> bool:
        return any(abs(rule.at - at) <= _NEAR and rule.covers(place) for rule in rules)

    def _middle(self, places: Sequence[float], number: int) -> float:
        return (places[number] + places[number + 1]) / 2


def grids_of(page: PdfPage) -> tuple[Grid, ...]:
    """Return the grids of at least two rows and two columns."""
    horizontal, vertical = _rules(page)
    if not horizontal or not vertical or len(horizontal) + len(vertical) > _MOST_RULES:
        return ()
    groups = _hanging_together(_joined(horizontal), _joined(vertical))
    return tuple(grid for group in groups if (grid := _grid(*group)) is not None)


def _rules(page: PdfPage) -> tuple[list[Rule], list[Rule]]:
    horizontal: list[Rule] = []
    vertical: list[Rule] = []
    count = pdfium.FPDFPage_CountObjects(page.raw)
    for number in range(count if count <= _MOST_OBJECTS else 0):
        item = pdfium.FPDFPage_GetObject(page.raw, number)
        if pdfium.FPDFPageObj_GetType(item) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        left, bottom, right, top = _bounds(item)
        if top - bottom <= _THIN and right - left >= _SHORTEST:
            horizontal.append(Rule(at=(top + bottom) / 2, start=left, end=right))
        elif right - left <= _THIN and top - bottom >= _SHORTEST:
            vertical.append(Rule(at=(left + right) / 2, start=bottom, end=top))
        elif _is_outline(item):
            horizontal += [Rule(at=at, start=left, end=right) for at in (bottom, top)]
            vertical += [Rule(at=at, start=bottom, end=top) for at in (left, right)]
    return horizontal, vertical


def _bounds(item: object) -> tuple[float, float, float, float]:
    places = (ctypes.c_float(), ctypes.c_float(), ctypes.c_float(), ctypes.c_float())
    pdfium.FPDFPageObj_GetBounds(item, *places)
    left, bottom, right, top = (place.value for place in places)
    return left, bottom, right, top


def _is_outline(item: object) -> bool:
    """True for a rectangle that is drawn, not only filled."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(item, fill, stroke)
    return bool(stroke.value) and 4 <= pdfium.FPDFPath_CountSegments(item) <= 6


def _joined(rules: Iterable[Rule]) -> list[Rule]:
    """Join what runs on in one line: each cell may have drawn its own piece."""
    joined: list[Rule] = []
    for rule in sorted(rules, key=lambda rule: (round(rule.at / _NEAR), rule.start)):
        before = joined[-1] if joined else None
        if before and abs(before.at - rule.at) <= _NEAR and rule.start <= before.end + _NEAR:
            joined[-1] = Rule(at=before.at, start=before.start, end=max(before.end, rule.end))
        else:
            joined.append(rule)
    return joined


def _hanging_together(
    horizontal: Sequence[Rule], vertical: Sequence[Rule]
) -> Iterator[tuple[list[Rule], list[Rule]]]:
    """Yield groups of rules that touch, directly or through others."""
    left = list(vertical)
    free = list(horizontal)
    while left:
        uprights, levels = [left.pop()], list[Rule]()
        waiting = list(uprights)
        while waiting:
            upright = waiting.pop()
            met = [rule for rule in free if rule.covers(upright.at) and upright.covers(rule.at)]
            free = [rule for rule in free if rule not in met]
            levels += met
            found = [
                rule for rule in left if any(rule.covers(each.at) and each.covers(rule.at) for each in met)
            ]
            left = [rule for rule in left if rule not in found]
            uprights += found
            waiting += found
        yield levels, uprights


def _grid(horizontal: list[Rule], vertical: list[Rule]) -> Grid | None:
    if not horizontal:
        return None
    ys = _places([rule.at for rule in horizontal])[::-1]
    ends = (min(rule.start for rule in horizontal), max(rule.end for rule in horizontal))
    xs = _places([*(rule.at for rule in vertical), *ends])
    if len(xs) < 3 or len(ys) < 3:
        return None
    levels = sorted(horizontal, key=lambda rule: -rule.at)
    return Grid(horizontal=tuple(levels), vertical=tuple(vertical), xs=tuple(xs), ys=tuple(ys))


def _places(places: Iterable[float]) -> list[float]:
    """Return the places in order, those close to each other as one."""
    kept: list[float] = []
    for place in sorted(places):
        if not kept or place - kept[-1] > _NEAR:
            kept.append(place)
    return kept


def _interval(starts: Sequence[float], place: float) -> int:
    """Return the number of the stretch in which `place` lies."""
    number = sum(start <= place + _NEAR / 2 for start in starts) - 1
    return min(max(number, 0), len(starts) - 2)
