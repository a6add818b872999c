"""Writes the events of all runs of a process: in order, many at once, and never on the time of a run."""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field

from corpus2skill.domain.event_log import NewEvent
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.ports.event_log import EventLog

_log = logging.getLogger(__name__)

_AT_ONCE = 2_000
"""Events of one transaction."""
_RETRY_SECONDS = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class _Note:
    tenant: str
    topic: str
    event: NewEvent
    written: Future[None] = field(default_factory=Future[None])


class EventWriter:
    """One thread. What it is given while it writes goes into its next transaction.

    While the database cannot be written, events wait: a run goes on and its watchers see nothing of it.
    """

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._notes: queue.SimpleQueue[_Note | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._gives_up = threading.Event()

    def write(self, tenant: str, topic: str, event: NewEvent) -> Future[None]:
        """Return at once; what is returned is done when the event is in the log."""
        note = _Note(tenant=tenant, topic=topic, event=event)
        self._notes.put(note)
        self._begin()
        return note.written

    def close(self, patience: float) -> None:
        """Write what is left; what cannot be written within so many seconds is lost."""
        if self._thread is None:
            return
        self._notes.put(None)
        self._thread.join(patience)
        self._gives_up.set()
        self._thread.join()
        self._thread = None

    def _begin(self) -> None:
        if self._thread is not None:
            return
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._write_all, name="run events", daemon=True)
                self._thread.start()

    def _write_all(self) -> None:
        is_over = False
        while not is_over:
            notes, is_over = self._next()
            if notes:
                self._write(notes)

    def _next(self) -> tuple[list[_Note], bool]:
        """All that waits, at least one; True where that was the last."""
        notes: list[_Note] = []
        note = self._notes.get()
        while note is not None:
            notes.append(note)
            if len(notes) == _AT_ONCE or self._notes.empty():
                return notes, False
            note = self._notes.get()
        return notes, True

    def _write(self, notes: Sequence[_Note]) -> None:
        batches: dict[tuple[str, str], list[NewEvent]] = {}
        for note in notes:
            batches.setdefault((note.tenant, note.topic), []).append(note.event)
        while not self._is_written(batches):
            if self._gives_up.wait(_RETRY_SECONDS):
                _log.error("%d events of runs could not be written before the end", len(notes))
                break
        for note in notes:
            note.written.set_result(None)

    def _is_written(self, batches: dict[tuple[str, str], list[NewEvent]]) -> bool:
        try:
            self._log.append_all([(*key, events) for key, events in batches.items()])
        except Corpus2SkillError:
            _log.warning("events of runs cannot be written; tried again", exc_info=True)
            return False
        except Exception:  # noqa: BLE001 - the thread must outlive what nobody thought of
            _log.exception("events of runs were refused and are lost")
        return True
