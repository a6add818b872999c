"""How often a job says how far it is: often enough to be seen to move, and never in step with its documents."""

from __future__ import annotations

from corpus2skill.domain.server_job import Progress

SHORTEST = 0.25
"""Seconds between two tellings at least."""
LONGEST = 2.0
"""Seconds after which anything new is told; before, only what is worth it."""
_SHARE = 200
"""A stage is worth it when it has moved by one part of so many: what is kept does not grow with the chunks."""


def is_to_be_told(told: Progress, now: Progress, seconds: float) -> bool:
    """Whether `now` is to be told, `seconds` after `told` was."""
    if now == told or seconds < SHORTEST:
        return False
    return seconds >= LONGEST or _has_moved(told, now)


def _has_moved(told: Progress, now: Progress) -> bool:
    if (told.waiting, told.failed_count) != (now.waiting, now.failed_count):
        return True
    for was, is_ in zip(told.stages, now.stages, strict=True):
        if was.is_done != is_.is_done or was.total != is_.total:
            return True
        if is_.done - was.done > is_.total / _SHARE:
            return True
    return False
