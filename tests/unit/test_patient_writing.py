"""A database that is gone for a while costs a run neither its record nor its events."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence

import pytest

from corpus2skill.application.server.event_writer import EventWriter
from corpus2skill.application.server.patient_records import PatientRecords
from corpus2skill.domain.event_log import LoggedEvent, NewEvent
from corpus2skill.domain.run import RunRecord
from corpus2skill.errors import RecordNotFound, WorkspaceUnusable
from tests.fakes.clock import FakeClock
from tests.fakes.record_store import FakeRecordStore
from tests.ports.runs import TENANT, record, visit


class LostRecords(FakeRecordStore):
    """Records that cannot be written while `is_lost`."""

    is_lost = False

    def close_run(self, record: RunRecord) -> None:
        self._refuse()
        super().close_run(record)

    def add_visit(self, ids: object, visit: object) -> None:
        self._refuse()

    def _refuse(self) -> None:
        if self.is_lost:
            raise WorkspaceUnusable("workspace_io", path="records.db", reason="gone")


class LostLog:
    """An event log that refuses so many times, then takes everything."""

    def __init__(self, refusals: int) -> None:
        self.refusals = refusals
        self.kept: list[tuple[str, str, str]] = []
        self.is_held = threading.Event()
        self.is_held.set()

    def append(self, tenant: str, topic: str, events: Sequence[NewEvent]) -> int:
        return self.append_all(((tenant, topic, events),))[0]

    def append_all(self, batches: Sequence[tuple[str, str, Sequence[NewEvent]]]) -> tuple[int, ...]:
        self.is_held.wait()
        if self.refusals:
            self.refusals -= 1
            raise WorkspaceUnusable("workspace_io", path="state.db", reason="gone")
        self.kept += [(tenant, topic, event.kind) for tenant, topic, events in batches for event in events]
        return tuple(0 for _ in batches)

    def since(self, tenant: str, topic: str, after: int, limit: int = 500) -> tuple[LoggedEvent, ...]:
        return ()

    def newest(self, topics: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], int]:
        return {}

    def forget(self, tenant: str, topic: str) -> None:
        pass


@pytest.mark.requirement("S-74")
def test_a_record_that_cannot_be_written_waits_until_it_can() -> None:
    """Issue: the database gone for 30 s in the middle of everything."""
    lost = LostRecords(FakeClock())
    records = PatientRecords(lost)
    run = record("run_1")
    records.open_run(run.ids, run, 60)
    lost.is_lost = True
    records.add_visit(run.ids, visit(1))
    records.close_run(run)
    with pytest.raises(WorkspaceUnusable):
        records.write_waiting(TENANT, "run_1")
    with pytest.raises(RecordNotFound):
        records.record(TENANT, "run_1")
    lost.is_lost = False
    records.write_waiting(TENANT, "run_1")
    records.write_waiting(TENANT, "run_1")
    assert records.record(TENANT, "run_1") == run


@pytest.mark.requirement("S-74")
def test_events_that_cannot_be_written_wait_in_their_order() -> None:
    """Nothing of a run waits for them, and none is lost."""
    log = LostLog(refusals=1)
    writer = EventWriter(log)
    notes = [
        writer.write(TENANT, f"run:{number % 2}", NewEvent(kind=str(number), payload={}))
        for number in range(5)
    ]
    notes[-1].result(10)
    writer.close(10)
    assert [kind for _, topic, kind in log.kept if topic == "run:0"] == ["0", "2", "4"]
    assert [kind for _, topic, kind in log.kept if topic == "run:1"] == ["1", "3"]


@pytest.mark.requirement("S-74")
def test_what_comes_while_a_transaction_is_written_goes_into_the_next_one() -> None:
    """A slow disk makes transactions larger, not more."""
    log = LostLog(refusals=0)
    log.is_held.clear()
    writer = EventWriter(log)
    notes = [writer.write(TENANT, "run:1", NewEvent(kind=str(number), payload={})) for number in range(100)]
    log.is_held.set()
    notes[-1].result(10)
    writer.close(10)
    assert [kind for _, _, kind in log.kept] == [str(number) for number in range(100)]


@pytest.mark.requirement("S-74")
def test_at_the_end_what_still_cannot_be_written_is_given_up() -> None:
    """A server that is stopped does not hang on a database that is gone."""
    log = LostLog(refusals=1_000_000)
    writer = EventWriter(log)
    note = writer.write(TENANT, "run:1", NewEvent(kind="a", payload={}))
    writer.close(0)
    assert note.done()
    assert log.kept == []
