"""Time and ids of this machine."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from corpus2skill.adapters.clock import SystemClock, TimeSortedIds
from tests.fakes.clock import FakeClock


def test_the_clock_tells_utc_and_never_runs_backwards() -> None:
    """Promised by ports/clock.py."""
    clock = SystemClock()
    assert clock.now().utcoffset() == timedelta(0)
    assert clock.monotonic() <= clock.monotonic()


def test_ids_sort_by_the_time_they_were_made() -> None:
    """Promised by ports/clock.py, also within a millisecond and when the clock is set back."""
    clock = FakeClock()
    ids = TimeSortedIds(clock)
    made: list[str] = []
    for step in (0.0, 0.0, 0.001, 3600.0, -7200.0, 0.0):
        clock.advance(step)
        made += [ids.new("run") for _ in range(50)]
    assert made == sorted(made)
    assert len(set(made)) == len(made)
    assert all(re.fullmatch(r"run_[0-9a-z]{26}", name) for name in made)


def test_two_processes_do_not_make_the_same_id() -> None:
    """Chance keeps apart what time does not."""
    clock = FakeClock()
    assert TimeSortedIds(clock).new("run") != TimeSortedIds(clock).new("run")


def test_threads_do_not_make_the_same_id() -> None:
    """Promised by ports/clock.py: fresh."""
    ids = TimeSortedIds(SystemClock())
    with ThreadPoolExecutor(4) as pool:
        made = list(pool.map(ids.new, ["run"] * 500))
    assert len(set(made)) == 500
