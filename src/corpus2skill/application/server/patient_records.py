"""The record store of a server's runs: that it cannot be written for a while ends no run and loses no record."""

from __future__ import annotations

import logging
import threading
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime

from corpus2skill.domain.feedback import Feedback
from corpus2skill.domain.run import RunIds, RunRecord
from corpus2skill.domain.session import Session
from corpus2skill.domain.trail import Visit
from corpus2skill.domain.usage import UsageLine
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.ports.store import ChainVerdict, RecordFilter, RecordStore

_log = logging.getLogger(__name__)


class PatientRecords:
    """`ports.store.RecordStore` over another one. What could not be written of a run's end waits for `write_waiting`."""

    def __init__(self, records: RecordStore) -> None:
        self._records = records
        self._waiting: dict[tuple[str, str], RunRecord] = {}
        self._lock = threading.Lock()

    def write_waiting(self, tenant: str, run: str) -> None:
        """Write the record of a run that waits, if it does.

        Raises:
            Corpus2SkillError: still not possible; it goes on waiting.
        """
        with self._lock:
            record = self._waiting.get((tenant, run))
        if record is not None:
            self._records.close_run(record)
            with self._lock:
                self._waiting.pop((tenant, run), None)

    def open_run(self, ids: RunIds, opening: RunRecord, lease_seconds: float) -> int:
        return self._records.open_run(ids, opening, lease_seconds)

    def add_visit(self, ids: RunIds, visit: Visit) -> None:
        try:
            self._records.add_visit(ids, visit)
        except Corpus2SkillError:  # the record will have it
            _log.warning("a visit of run %s could not be noted", ids.run, exc_info=True)

    def close_run(self, record: RunRecord) -> None:
        try:
            self._records.close_run(record)
        except Corpus2SkillError:
            _log.warning("the record of run %s cannot be written; tried again", record.ids.run, exc_info=True)
            with self._lock:
                self._waiting[record.ids.tenant, record.ids.run] = record

    def close_dead(self) -> int:
        return self._records.close_dead()

    def close_abandoned(self, tenant: str, run: str) -> bool:
        return self._records.close_abandoned(tenant, run)

    def session(self, tenant: str, session: str, corpus: str) -> Session:
        return self._records.session(tenant, session, corpus)

    def record(self, tenant: str, run: str) -> RunRecord:
        return self._records.record(tenant, run)

    def records(self, tenant: str, which: RecordFilter) -> Iterator[RunRecord]:
        return self._records.records(tenant, which)

    def under_way(self, tenant: str, which: RecordFilter) -> int:
        return self._records.under_way(tenant, which)

    def spent(self, tenant: str, *, session: str | None = None, since: datetime | None = None) -> float:
        return self._records.spent(tenant, session=session, since=since)

    def usage(self, tenant: str, since: str, until: str) -> tuple[UsageLine, ...]:
        return self._records.usage(tenant, since, until)

    def tombstone(self, tenant: str, runs: Collection[str]) -> None:
        self._records.tombstone(tenant, runs)

    def put_feedback(self, tenant: str, run: str, feedback: Feedback) -> None:
        self._records.put_feedback(tenant, run, feedback)

    def feedback(self, tenant: str, runs: Collection[str]) -> Mapping[str, Feedback]:
        return self._records.feedback(tenant, runs)

    def cited_versions(self, tenant: str, corpus: str) -> frozenset[int]:
        return self._records.cited_versions(tenant, corpus)

    def verify(self, tenant: str, kept_head: str | None = None) -> ChainVerdict:
        return self._records.verify(tenant, kept_head)

    def close(self) -> None:
        """Nothing: a version that is closed leaves its tenant's records open for the others."""

    def shut(self) -> None:
        """Give back what is held open."""
        self._records.close()
