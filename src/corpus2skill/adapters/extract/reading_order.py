"""The order in which people read boxes on a page: top to bottom, but columns of their own one after the other."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

_T = TypeVar("_T")
_OVERLAP = 0.1
"""Share of the smaller box by which boxes may reach into each other and still count as apart."""
_LIKE_WIDTHS = 0.6
_MOST = 200
"""Boxes that are looked at closely; beyond, they are sorted by their corners only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Box:
    left: int
    top: int
    width: int
    height: int

    @property
    def right(self) -> int:
        return self.left + self.width

    @property
    def bottom(self) -> int:
        return self.top + self.height


def in_reading_order(items: Sequence[_T], box: Callable[[_T], Box]) -> list[_T]:
    """Return `items` in the order of reading. Those at one place keep their own order."""
    if len(items) < 2:
        return list(items)
    if len(items) > _MOST:
        return sorted(items, key=lambda item: (box(item).top, box(item).left))
    columns = _parted(items, lambda item: (box(item).left, box(item).right))
    rows = _parted(items, lambda item: (box(item).top, box(item).bottom))
    if len(columns) > 1 and (len(rows) == 1 or _are_columns(columns, box)):
        groups = columns
    elif len(rows) > 1:
        groups = rows
    else:
        return sorted(items, key=lambda item: (box(item).top, box(item).left))
    return [item for group in groups for item in in_reading_order(group, box)]


def _parted(items: Sequence[_T], span: Callable[[_T], tuple[int, int]]) -> list[list[_T]]:
    """Part items where their spans along one direction leave a gap."""
    groups: list[list[_T]] = []
    reach = 0
    for item in sorted(items, key=span):
        start, end = span(item)
        if not groups or start < reach - _OVERLAP * max(end - start, 1):
            groups = groups or [[]]
        else:
            groups.append([])
        groups[-1].append(item)
        reach = max(reach, end) if len(groups[-1]) > 1 else end
    return groups


def _are_columns(columns: Sequence[Sequence[_T]], box: Callable[[_T], Box]) -> bool:
    """Columns of one width with several boxes each are read one by one; a label beside its text is a row."""
    if len(columns) > 3 or any(len(column) < 2 for column in columns):
        return False
    widths = [
        max(box(item).right for item in column) - min(box(item).left for item in column) for column in columns
    ]
    return min(widths) >= _LIKE_WIDTHS * max(widths)
