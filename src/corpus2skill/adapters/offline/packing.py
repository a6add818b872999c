"""Parts a row with clusters in it, whose order says nothing, into at most so many bins of at most so many items."""

from __future__ import annotations

import math
from collections.abc import Sequence

from corpus2skill.adapters.offline.outline import Branch, without_chain
from corpus2skill.adapters.offline.partition import Bin, kinship, partition


def pack(branches: Sequence[Branch], *, bins: int, room: int, spread: int) -> list[Bin]:
    """Return bins, each with at most `room` items and what is most alike together.

    Clusters are opened, the loosest first, until there are `spread` bins. Where there are too many, the
    smallest ones are dealt out to their nearest kin with room. A document is broken up only where no bin
    can take it whole; a folder loses its own bin only after all clusters have.
    """
    units = list(branches)
    while len(units) == 1 and units[0].size > 1:
        units = without_chain(units[0]).branches()
    full = [unit for unit in units if not unit.is_cluster]
    row = [[unit] for unit in _spread(units, spread)]
    row = [part for unit in row for part in _within(unit[0], room)]
    most = max(bins, math.ceil(sum(map(_size, row)) / room))
    while len(row) > most:
        at = min(range(len(row)), key=lambda at: (row[at][0] in full, _size(row[at]), -at))
        for unit in row.pop(at):
            _deal_out(unit, row, room)
    return [sorted(part, key=lambda unit: next(unit.items())) for part in row]


def _spread(units: list[Branch], wanted: int) -> list[Branch]:
    """Open the loosest cluster of clusters again and again until there are `wanted` units."""
    units = list(units)
    while len(units) < wanted:
        openable = [at for at, unit in enumerate(units) if unit.is_cluster_of_clusters]
        if not openable:
            break
        at = max(openable, key=lambda at: (units[at].looseness, units[at].size, -at))
        units[at : at + 1] = units[at].branches()
    return units


def _within(unit: Branch, room: int) -> list[Bin]:
    """Open clusters that are over `room`; part what has an order of its own along it."""
    if unit.size <= room:
        return [[unit]]
    if unit.is_cluster:
        return [part for inner in unit.branches() for part in _within(inner, room)]
    return partition([unit], bins=math.ceil(unit.size / room), room=room)


def _deal_out(unit: Branch, row: Sequence[Bin], room: int) -> None:
    """Put `unit` into the bin with its nearest kin that can take it, else what is in it one by one."""
    waiting = [unit]
    while waiting:
        unit = waiting.pop()
        fitting = [part for part in row if _size(part) + unit.size <= room]
        if fitting:
            max(fitting, key=lambda part: (_nearness(unit, part), _size(part))).append(unit)
        else:
            waiting.extend(reversed(unit.branches()))


def _nearness(unit: Branch, part: Bin) -> int:
    return max(kinship(unit, other) for other in part)


def _size(part: Bin) -> int:
    return sum(unit.size for unit in part)
