"""Delete what was said, everywhere the server keeps it: records, what was said of them, events, conversations."""

from __future__ import annotations

import logging
from collections.abc import Collection
from dataclasses import dataclass

from corpus2skill.application.delete_records import DeletedRecord, Whose, delete_records
from corpus2skill.application.server.holds import check_free, check_records_free
from corpus2skill.application.server.runs import RunHost
from corpus2skill.application.server_wiring import Server
from corpus2skill.application.show_records import opened_records
from corpus2skill.domain.event_log import run_topic
from corpus2skill.domain.hosted import HostedSession
from corpus2skill.domain.people import Principal
from corpus2skill.errors import Busy, Conflict, RecordNotFound, SessionNotFound, ThingNotFound

_log = logging.getLogger(__name__)

_STOP_SECONDS = 10.0
_PAGE = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Erasure:
    """What was, or would be, deleted."""

    records: tuple[DeletedRecord, ...]
    sessions: int
    under_way: int
    """Runs that could not be ended in time: nothing of them is deleted."""
    is_done: bool


def erase_session(server: Server, host: RunHost, by: Principal, session: HostedSession) -> Erasure:
    """Delete a conversation; what is still being answered in it is ended first.

    Raises:
        Conflict: a legal hold covers it; or that could not be ended in time, then what was answered before is
            deleted.
    """
    check_free(server, by.tenant, session=session.session, user=session.end_user, corpus=session.corpus)
    erasure = _erase(server, host, by.tenant, Whose(session=session.session), (session.session,))
    if not erasure.is_done:
        raise Conflict("run_not_finished", session=session.session)
    server.audit.note(by.tenant, by.actor, "session.deleted", session.session, records=len(erasure.records))
    return erasure


def erase_records(server: Server, host: RunHost, by: Principal, whose: Whose, *, is_dry_run: bool) -> Erasure:
    """Delete one run, a conversation or all conversations of an end user.

    Raises:
        InvalidInput: not exactly one of the three is given.
        ThingNotFound: there is nothing of it.
        Conflict: a legal hold covers some of it.
    """
    sessions = _sessions(server, by.tenant, whose)
    if is_dry_run:
        return _found(server, by.tenant, whose, sessions)
    check_records_free(server, by.tenant, whose)
    erasure = _erase(server, host, by.tenant, whose, sessions)
    if not erasure.records and not erasure.under_way and not sessions:
        raise _nothing(whose)
    meant = whose.session or whose.run or "end_user"  # whose name would outlive what is deleted
    server.audit.note(by.tenant, by.actor, "records.deleted", meant, records=len(erasure.records))
    return erasure


def erase_runs(server: Server, tenant: str, runs: Collection[str]) -> None:
    """Delete what these runs said; conversations stay, empty or not. For whoever decides what is kept how long."""
    server.reviews.forget(tenant, runs)
    for run in runs:
        server.events.forget(tenant, run_topic(run))
        server.hosted.drop_run(tenant, run)
    with opened_records(
        server.workspace(tenant)
    ) as records:  # last: as long as it is there, it is found again
        records.tombstone(tenant, runs)


def wipe_state(server: Server) -> None:
    """Have nothing of what was deleted stand in the files of the server's database."""
    try:
        server.retention.wipe()
    except Busy:
        _log.warning("what was deleted stands in a log until the next deletion", exc_info=True)


def _sessions(server: Server, tenant: str, whose: Whose) -> tuple[str, ...]:
    if whose.user is not None:
        return server.hosted.sessions_of(tenant, whose.user)
    if whose.session is None:
        return ()
    try:
        return (server.hosted.session(tenant, whose.session).session,)
    except ThingNotFound:
        return ()


def _erase(server: Server, host: RunHost, tenant: str, whose: Whose, sessions: Collection[str]) -> Erasure:
    for session in sessions:
        for run in host.of_session(tenant, session):
            host.cancel(tenant, run, "stop", _STOP_SECONDS)
    found = _delete(server, tenant, whose, is_confirmed=True)
    _forget_events(server, tenant, {*sessions}, found)
    if found.under_way:
        return Erasure(records=found.records, sessions=0, under_way=found.under_way, is_done=False)
    server.hosted.drop_sessions(tenant, sessions)
    wipe_state(server)
    return Erasure(records=found.records, sessions=len(sessions), under_way=0, is_done=True)


def _found(server: Server, tenant: str, whose: Whose, sessions: Collection[str]) -> Erasure:
    found = _delete(server, tenant, whose, is_confirmed=False)
    if not found.records and not found.under_way and not sessions:
        raise _nothing(whose)
    return Erasure(records=found.records, sessions=len(sessions), under_way=found.under_way, is_done=False)


def _delete(server: Server, tenant: str, whose: Whose, *, is_confirmed: bool) -> Erasure:
    """What lies in the records; nothing of it is no error: the conversation may be without a turn."""
    try:
        deletion = delete_records(server.workspace(tenant), whose, is_confirmed=is_confirmed, tenant=tenant)
    except (RecordNotFound, SessionNotFound):
        return Erasure(records=(), sessions=0, under_way=0, is_done=is_confirmed)
    return Erasure(records=deletion.records, sessions=0, under_way=deletion.under_way, is_done=is_confirmed)


def _forget_events(server: Server, tenant: str, sessions: set[str], found: Erasure) -> None:
    runs = {record.run for record in found.records}
    for session in sessions:
        before: str | None = None
        while page := server.hosted.runs(tenant, session, before=before, limit=_PAGE):
            runs |= {run.run for run in page}
            before = page[-1].run
    server.reviews.forget(tenant, runs)
    for run in runs:
        server.events.forget(tenant, run_topic(run))


def _nothing(whose: Whose) -> ThingNotFound:
    if whose.user is not None:
        return ThingNotFound("end_user", whose.user)
    return ThingNotFound("session", whose.session) if whose.session else ThingNotFound("run", whose.run or "")
