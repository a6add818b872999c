"""Parts an ordered row of branches into at most so many bins of at most so many items each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

from corpus2skill.adapters.offline.outline import Branch, without_chain

_MANY = 16
"""Rows longer than so many times the wanted bins are cut in one go instead of merged pair by pair."""

Bin = list[Branch]
"""Neighbours that become one group."""


def partition(branches: Sequence[Branch], *, bins: int, room: int) -> list[Bin]:
    """Return bins in order, each with at most `room` items.

    Branches stay whole where that is possible. There are more than `bins` only where the items do not fit.
    """
    units = _opened(branches, room)
    while len(units) == 1 and units[0].size > 1:
        units = _opened(without_chain(units[0]).branches(), room)
    if len(units) <= bins:
        return [[unit] for unit in units]
    if len(units) <= _MANY * bins:
        merged = _merged(units, bins, room)
        if len(merged) <= bins:
            return merged
    return _cut(units, bins, room)


def kinship(left: Branch, right: Branch) -> int:
    """Return how deep the nearest branch lies that holds both."""
    around = set(map(id, left.around()))
    nearest = next((branch for branch in right.around() if id(branch) in around), None)
    return 0 if nearest is None else len(nearest.around())


def _opened(branches: Sequence[Branch], room: int) -> list[Branch]:
    """Replace each branch that is over `room` by what is in it."""
    opened: list[Branch] = []
    waiting = list(reversed(branches))
    while waiting:
        branch = waiting.pop()
        if branch.size > room:
            waiting.extend(reversed(branch.branches()))
        else:
            opened.append(branch)
    return opened


def _merged(units: Sequence[Branch], bins: int, room: int) -> list[Bin]:
    """Join neighbours, nearest kin and smallest first, until there are at most `bins` or none fits."""
    row: list[Bin] = [[unit] for unit in units]
    sizes = [unit.size for unit in units]
    kin = [kinship(left, right) for left, right in pairwise(units)]
    while len(row) > bins:
        fitting = [at for at in range(len(row) - 1) if sizes[at] + sizes[at + 1] <= room]
        if not fitting:
            break
        at = min(fitting, key=lambda at: (-kin[at], sizes[at] + sizes[at + 1], at))
        row[at : at + 2] = [row[at] + row[at + 1]]
        sizes[at : at + 2] = [sizes[at] + sizes[at + 1]]
        del kin[at]
    return row


def _cut(units: Sequence[Branch], bins: int, room: int) -> list[Bin]:
    """Fill bin after bin; each ends at the deepest cleft that leaves room enough for the rest."""
    waiting = list(reversed(units))
    left = sum(unit.size for unit in units)
    row: list[Bin] = []
    while waiting:
        least = left - max(bins - len(row) - 1, 0) * room
        taken = _filled(waiting, least, room)
        left -= sum(unit.size for unit in taken)
        row.append(taken)
    return row


def _filled(waiting: list[Branch], least: int, room: int) -> Bin:
    """Take units from the end of `waiting` for one bin of `least` to `room` items."""
    taken: Bin = []
    size = 0
    while waiting and size + waiting[-1].size <= room:
        taken.append(waiting.pop())
        size += taken[-1].size
    while waiting and size < least:
        unit = waiting.pop()
        if size + unit.size > room:
            waiting.extend(reversed(unit.branches()))
        else:
            taken.append(unit)
            size += unit.size
    _give_back(taken, waiting, max(least, (size + 1) // 2))
    return taken


def _give_back(taken: Bin, waiting: list[Branch], least: int) -> None:
    """Return units to `waiting` so that the bin ends at the deepest cleft past `least` items."""
    if not waiting:
        return
    row = [*taken, waiting[-1]]
    filled = accumulate(unit.size for unit in taken)
    ends = [end for end, size in enumerate(filled, 1) if size >= least]
    best = min(ends, key=lambda end: (kinship(row[end - 1], row[end]), -end), default=len(taken))
    waiting.extend(reversed(taken[best:]))
    del taken[best:]
