"""Runs whose process died: their records are closed, their ends told, so that none is under way for ever."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable
from datetime import timedelta

from corpus2skill.application.server.reviews import note_ended_run
from corpus2skill.application.server.run_events import told_end
from corpus2skill.application.server_wiring import Server
from corpus2skill.application.show_records import opened_records
from corpus2skill.domain.event_log import is_last, run_topic
from corpus2skill.domain.hosted import HostedRun
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.run import RunRecord
from corpus2skill.errors import Corpus2SkillError, RecordNotFound

_log = logging.getLogger(__name__)

_EVENTS_KEPT = timedelta(hours=1)
"""Of a finished run: long enough for whoever was cut off. After that its record alone tells of it."""
_FORGOTTEN_AT_ONCE = 200


class DeadRuns:
    """Settles runs that nobody works on any more, for the process `owner`."""

    def __init__(self, server: Server, owner: str, lease_seconds: float) -> None:
        self._server = server
        self._owner = owner
        self._lease_seconds = lease_seconds

    def settle_all(self, is_live_here: Callable[[HostedRun], bool]) -> None:
        """Settle every unfinished run whose owner is dead, of all tenants."""
        for run in self._server.hosted.unfinished():
            if is_live_here(run):
                continue
            try:
                self.settle(run)
            except Corpus2SkillError:
                _log.warning("run %s cannot be settled now", run.run, exc_info=True)

    def settle(self, run: HostedRun) -> None:
        """Close a run unless its owner lives: its record says what it came to, or that it was stopped."""
        hosted, now = self._server.hosted, self._server.clock.now()
        if run.finished_at is not None or not self._is_dead(run, now.timestamp()):
            return
        if not hosted.claim(run, self._owner, now.timestamp() + self._lease_seconds):
            return
        record = self._closed(run)
        if record is None:
            hosted.drop_run(run.tenant, run.run)
            self._server.events.forget(run.tenant, run_topic(run.run))
            return
        self._tell_end(run, record)
        hosted.finish(run.tenant, run.run, moment_of(now))
        note_ended_run(self._server, record)

    def forget_old_events(self) -> None:
        """Let go of the events of runs that ended a while ago."""
        before = moment_of(self._server.clock.now() - _EVENTS_KEPT)
        for run in self._server.hosted.finished_before(before, _FORGOTTEN_AT_ONCE):
            self._server.events.forget(run.tenant, run_topic(run.run))
            self._server.hosted.events_forgotten(run.tenant, run.run)

    def _is_dead(self, run: HostedRun, now: float) -> bool:
        return run.owner == self._owner or run.lease_until <= now or has_died(run.owner)

    def _closed(self, run: HostedRun) -> RunRecord | None:
        """Its record; None where it never began, or was deleted."""
        with opened_records(self._server.workspace(run.tenant)) as records:
            records.close_abandoned(run.tenant, run.run)
            try:
                return records.record(run.tenant, run.run)
            except RecordNotFound:
                return None

    def _tell_end(self, run: HostedRun, record: RunRecord) -> None:
        log, topic = self._server.events, run_topic(run.run)
        newest = log.newest([(run.tenant, topic)]).get((run.tenant, topic), 0)
        last = log.since(run.tenant, topic, newest - 1) if newest else ()
        if not last or not is_last(last[-1]):
            log.append(run.tenant, topic, [told_end(record)])


def has_died(owner: str) -> bool:
    """True where the owner was a process of this machine that is no more, or of which this one has the number."""
    host, _, rest = owner.partition("/")
    number = rest.partition("/")[0]
    if host != socket.gethostname() or not number.isdecimal():
        return False
    return int(number) == os.getpid() or not _is_running(int(number))


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
