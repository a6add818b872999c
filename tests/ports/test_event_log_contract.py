"""What the log of kept events promises, on both databases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.event_log import SqlEventLog
from corpus2skill.domain.event_log import NewEvent
from corpus2skill.ports.event_log import EventLog
from tests.fakes.clock import FakeClock
from tests.ports.state import clock as clock
from tests.ports.state import state as state


@pytest.fixture
def log(state: Database, clock: FakeClock) -> EventLog:
    return SqlEventLog(state, clock)


def event(text: str) -> NewEvent:
    return NewEvent(kind="text.delta", payload={"text": text})


def test_a_new_log_is_empty(log: EventLog) -> None:
    """Looking makes nothing."""
    assert log.since("acme", "run:1", 0) == ()
    assert log.newest([("acme", "run:1")]) == {}
    assert log.newest([]) == {}


def test_events_are_numbered_from_one_in_each_topic(log: EventLog) -> None:
    """Promised by the port: integer ids from 1, without gaps."""
    assert log.append("acme", "run:1", [event("解約は"), event("末日\0です")]) == 2
    assert log.append("acme", "run:2", [event("x")]) == 1
    assert log.append("acme", "run:1", [event("。")]) == 3
    assert log.append("acme", "run:1", []) == 3
    told = log.since("acme", "run:1", 0)
    assert [(one.number, one.payload["text"]) for one in told] == [
        (1, "解約は"),
        (2, "末日\0です"),
        (3, "。"),
    ]
    assert {(one.kind, one.at) for one in told} == {("text.delta", "2026-04-01T09:00:00.000Z")}


def test_a_watcher_who_comes_back_is_told_the_rest(log: EventLog) -> None:
    """interfaces.md: resume by Last-Event-ID."""
    log.append("acme", "run:1", [event(f"{number}") for number in range(10)])
    assert [one.number for one in log.since("acme", "run:1", 6)] == [7, 8, 9, 10]
    assert [one.number for one in log.since("acme", "run:1", 2, limit=3)] == [3, 4, 5]
    assert log.since("acme", "run:1", 10) == ()


def test_one_question_tells_the_newest_of_many_topics(log: EventLog) -> None:
    """Promised by the port."""
    log.append("acme", "run:1", [event("a"), event("b")])
    log.append("other", "run:1", [event("a")])
    asked = [("acme", "run:1"), ("other", "run:1"), ("acme", "run:none")]
    assert log.newest(asked) == {("acme", "run:1"): 2, ("other", "run:1"): 1}


def test_tenants_and_topics_are_kept_apart(log: EventLog) -> None:
    """Issue 6: tenants are kept apart; a topic is forgotten with all its events."""
    log.append("acme", "run:1", [event("mine")])
    log.append("other", "run:1", [event("theirs")])
    log.forget("other", "run:1")
    assert [one.payload["text"] for one in log.since("acme", "run:1", 0)] == ["mine"]
    assert log.since("other", "run:1", 0) == ()


def test_many_writers_of_one_topic_leave_no_gap(log: EventLog) -> None:
    """Promised by the port, whoever appends at the same moment."""
    with ThreadPoolExecutor(12) as threads:
        written = list(
            threads.map(lambda n: log.append("acme", "t", [event(f"{n}"), event(f"{n}")]), range(60))
        )
    assert sorted(written) == list(range(2, 122, 2))
    told = log.since("acme", "t", 0)
    assert [one.number for one in told] == list(range(1, 121))
    texts = [str(one.payload["text"]) for one in told]
    assert texts[::2] == texts[1::2]


@pytest.mark.requirement("S-63")
def test_events_of_several_topics_are_appended_in_one_step(log: EventLog) -> None:
    """Promised by the port."""
    log.append("acme", "run:1", [event("a")])
    batches = (("acme", "run:1", [event("b"), event("c")]), ("other", "run:1", [event("d")]))
    assert log.append_all(batches) == (3, 1)
    assert log.append_all(()) == ()
    assert [one.payload["text"] for one in log.since("acme", "run:1", 0)] == ["a", "b", "c"]
    assert [one.payload["text"] for one in log.since("other", "run:1", 0)] == ["d"]
