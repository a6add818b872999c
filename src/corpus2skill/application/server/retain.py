"""What is past its time goes: what would go, and the worker's duty that lets it go each night."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from corpus2skill.application.manage_versions import prunable
from corpus2skill.application.server.erase import erase_runs, wipe_state
from corpus2skill.application.server_wiring import Server
from corpus2skill.application.show_records import opened_records
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.people import Principal
from corpus2skill.domain.retention import LegalHold, RetentionPolicy, RetentionState, next_run
from corpus2skill.errors import Busy, Corpus2SkillError, Damaged
from corpus2skill.ports.retention import PastKind
from corpus2skill.ports.store import RecordFilter

_log = logging.getLogger(__name__)

_LOOK_AGAIN_SECONDS = 300.0
_RUNS_AT_ONCE = 100
_BY_AGE: tuple[PastKind, ...] = ("audit", "events", "deliveries")
_JUMP_SECONDS = 3_600.0
_AFTER_JUMP_SECONDS = 24 * 3600.0
_SYSTEM = "system"
IsStopping = Callable[[], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionView:
    state: RetentionState
    next_run_at: str | None
    """None where everything is kept."""
    holds: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Preview:
    """What would go if the policy were carried out now."""

    counts: Mapping[str, int]
    held: int
    """Runs past their time that a hold keeps."""
    next_run_at: str | None


def show_retention(server: Server, tenant: str) -> RetentionView:
    state = server.retention.state(tenant)
    return RetentionView(
        state=state,
        next_run_at=_moment(next_run(state, server.clock.now())),
        holds=len(server.retention.holds(tenant)),
    )


def set_retention(server: Server, by: Principal, policy: RetentionPolicy) -> RetentionView:
    """Set how long each class is kept; it is first carried out in the night that follows."""
    server.retention.set_policy(by.tenant, policy, moment_of(server.clock.now()))
    server.audit.note(
        by.tenant,
        by.actor,
        "retention.changed",
        "retention",
        conversations=policy.conversations,
        versions=policy.versions,
        audit=policy.audit,
        events=policy.events,
        deliveries=policy.deliveries,
    )
    return show_retention(server, by.tenant)


def preview(server: Server, tenant: str, policy: RetentionPolicy | None = None) -> Preview:
    """Count what would go now, under the policy that is set or another one. Nothing is changed."""
    state = server.retention.state(tenant)
    meant, now = policy or state.policy, server.clock.now()
    past = _Past(server, tenant, meant, now)
    runs, held = past.runs()
    counts = {
        "runs": len(runs),
        "sessions": len(past.sessions()),
        "versions": sum(1 for _ in past.versions()),
        **{kind: past.count(kind) for kind in _BY_AGE},
    }
    return Preview(counts=counts, held=held, next_run_at=_moment(next_run(state, now)))


async def retain(server: Server, stop: asyncio.Event) -> None:
    """The duty: let go each night what is past its time."""
    keeper = Keeper(server)
    while not stop.is_set():
        await asyncio.to_thread(keeper.look, stop.is_set)
        with suppress(TimeoutError):
            async with asyncio.timeout(_LOOK_AGAIN_SECONDS):
                await stop.wait()


class Keeper:
    """Carries out policies when their time has come; never on the word of a clock that has just jumped."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._offset = self._clocks_apart()
        self._not_before = 0.0

    def look(self, is_stopping: IsStopping = lambda: False) -> None:
        """Carry out what is due; what fails is tried again by the next look."""
        if self._has_jumped():
            return
        for tenant in self._server.retention.tenants():
            due = next_run(self._server.retention.state(tenant), self._server.clock.now())
            if due is None or due > self._server.clock.now() or is_stopping():
                continue
            try:
                carry_out(self._server, tenant, is_stopping)
            except Corpus2SkillError:
                _log.warning("retention could not be carried out; tried again", exc_info=True)

    def _has_jumped(self) -> bool:
        """True for a day after the clock was set forward or back by more than an hour."""
        apart = self._clocks_apart()
        if abs(apart - self._offset) > _JUMP_SECONDS:
            _log.warning("the clock has jumped: retention waits for a day")
            self._not_before = self._server.clock.monotonic() + _AFTER_JUMP_SECONDS
        self._offset = apart
        return self._server.clock.monotonic() < self._not_before

    def _clocks_apart(self) -> float:
        return self._server.clock.now().timestamp() - self._server.clock.monotonic()


def carry_out(server: Server, tenant: str, is_stopping: IsStopping = lambda: False) -> Mapping[str, int]:
    """Let go what is past its time and return how much it was, which is all that the operators' log keeps.

    Whoever is stopped in the middle leaves the rest to the next one.
    """
    now = server.clock.now()
    past = _Past(server, tenant, server.retention.state(tenant).policy, now)
    runs, held = past.runs()
    gone = {"runs": _erase(server, tenant, runs, is_stopping)}
    if is_stopping():
        return gone
    sessions = past.sessions()
    if sessions:
        server.hosted.drop_sessions(tenant, sessions)
    gone |= {"sessions": len(sessions), "versions": _remove_versions(server, tenant, past)}
    gone |= {kind: past.forget(kind) for kind in _BY_AGE}
    wipe_state(server)
    server.retention.note_run(tenant, moment_of(now), gone)
    server.audit.note(tenant, _SYSTEM, "retention.done", "retention", held=held, **gone)
    return gone


def _erase(server: Server, tenant: str, runs: tuple[str, ...], is_stopping: IsStopping) -> int:
    erased = 0
    for start in range(0, len(runs), _RUNS_AT_ONCE):
        if is_stopping():
            break
        some = runs[start : start + _RUNS_AT_ONCE]
        try:
            erase_runs(server, tenant, some)
        except Busy:  # all of it is gone from the tables; the next deletion empties the log
            _log.warning("what was deleted stands in a log until the next deletion", exc_info=True)
        erased += len(some)
    return erased


def _remove_versions(server: Server, tenant: str, past: _Past) -> int:
    workspace, removed = server.workspace(tenant), 0
    for corpus, version in past.versions():
        try:
            with workspace.versions.exclusive(corpus):
                if version in {line.version for line in prunable(workspace, corpus)[1]}:
                    workspace.versions.remove(corpus, version)
                    removed += 1
        except Busy:  # it is being compiled: the next night will do
            continue
    return removed


@dataclass(slots=True)
class _Past:
    """What of a tenant is past its time."""

    server: Server
    tenant: str
    policy: RetentionPolicy
    now: datetime

    def runs(self) -> tuple[tuple[str, ...], int]:
        """Runs that go, and how many a hold keeps."""
        before = self.policy.before("conversations", self.now)
        workspace = self.server.workspace(self.tenant)
        if before is None or not workspace.has_records():
            return (), 0
        holds, held, gone = self._holds(), 0, list[str]()
        with opened_records(workspace) as records:
            for record in records.records(self.tenant, RecordFilter(until=moment_of(before))):
                ids = record.ids
                if _covered(holds, ids.session, record.user, ids.corpus):
                    held += 1
                else:
                    gone.append(ids.run)
        return tuple(gone), held

    def sessions(self) -> tuple[str, ...]:
        """Conversations in which nothing was said since."""
        before = self.policy.before("conversations", self.now)
        if before is None:
            return ()
        holds = self._holds()
        return tuple(
            session
            for session, corpus, user in self.server.retention.idle_sessions(self.tenant, moment_of(before))
            if not _covered(holds, session, user, corpus)
        )

    def versions(self) -> Iterator[tuple[str, int]]:
        """Corpus and number of old versions that no kept record cites."""
        before = self.policy.before("versions", self.now)
        if before is None:
            return
        workspace, holds = self.server.workspace(self.tenant), self._holds()
        for corpus in workspace.versions.corpora():
            if _covered(holds, None, None, corpus):
                continue
            try:
                lines = prunable(workspace, corpus)[1]
            except Damaged:  # nobody can tell which version is active
                continue
            for line in lines:
                if self._is_old(corpus, line.version, before):
                    yield corpus, line.version

    def count(self, kind: PastKind) -> int:
        before = self.policy.before(kind, self.now)
        return 0 if before is None else self.server.retention.count_past(self.tenant, kind, moment_of(before))

    def forget(self, kind: PastKind) -> int:
        before = self.policy.before(kind, self.now)
        return (
            0 if before is None else self.server.retention.forget_past(self.tenant, kind, moment_of(before))
        )

    def _is_old(self, corpus: str, version: int, before: datetime) -> bool:
        """By when a newer one was made: until then it was the newest."""
        store = self.server.workspace(self.tenant).versions
        newer = next((number for number in store.versions(corpus) if number > version), version)
        try:
            return datetime.fromisoformat(store.manifest(corpus, newer).created_at) < before
        except Damaged:
            return False

    def _holds(self) -> tuple[LegalHold, ...]:
        return self.server.retention.holds(self.tenant)


def _covered(holds: tuple[LegalHold, ...], session: str | None, user: str | None, corpus: str | None) -> bool:
    return any(hold.covers(session=session, user=user, corpus=corpus) for hold in holds)


def _moment(time: datetime | None) -> str | None:
    return None if time is None else moment_of(time)
