"""Delete what was said: one run, one conversation, one person's conversations."""

from __future__ import annotations

from dataclasses import dataclass, replace

from corpus2skill.application.ask import check_user, known_session
from corpus2skill.application.show_records import opened_records
from corpus2skill.application.wiring import TENANT, Workspace
from corpus2skill.domain.run import RunRecord
from corpus2skill.errors import InvalidInput, RecordNotFound
from corpus2skill.ports.store import RecordFilter, RecordStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Whose:
    """What to delete: exactly one of the three."""

    run: str | None = None
    """A run's id, or a beginning that only it has."""
    session: str | None = None
    """A conversation's id, or a beginning that only it has."""
    user: str | None = None
    """The whole id."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deletion:
    """The records that are meant; what they said is gone where it `is_done`."""

    records: tuple[DeletedRecord, ...]
    under_way: int
    """Runs that have no record yet: they are not deleted."""
    is_done: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedRecord:
    """What stays of a record when what was said is gone."""

    run: str
    session: str
    started_at: str
    outcome: str


def delete_records(
    workspace: Workspace, whose: Whose, *, is_confirmed: bool, tenant: str = TENANT
) -> Deletion:
    """Find the records that are meant and, where it `is_confirmed`, replace what they say by tombstones.

    Raises:
        InvalidInput: not exactly one of run, session and user is given.
        RecordNotFound, SessionNotFound: there is nothing of it, or nothing any more.
    """
    _require_one(whose)
    with opened_records(workspace) as records:
        if is_confirmed:
            records.close_dead()
            records.tombstone(tenant, ())  # what an earlier deletion had to leave in the log
        which = _filter(records, whose, tenant)
        found = tuple(_meant(records, whose, which, tenant))
        under_way = 0 if whose.run is not None else records.under_way(tenant, which)
        if not found and not under_way:
            raise RecordNotFound("no_records_of_user", user=whose.user)
        if is_confirmed:
            records.tombstone(tenant, [record.ids.run for record in found])
    return Deletion(
        records=tuple(_what_stays(record) for record in found), under_way=under_way, is_done=is_confirmed
    )


def _require_one(whose: Whose) -> None:
    check_user(whose.user)
    given = [value for value in (whose.run, whose.session, whose.user) if value is not None]
    if len(given) != 1:
        raise InvalidInput("delete_what", given=len(given))


def _filter(records: RecordStore, whose: Whose, tenant: str) -> RecordFilter:
    which = RecordFilter(user=whose.user)
    if whose.session is None:
        return which
    if records.under_way(tenant, RecordFilter(session=whose.session)):
        return replace(which, session=whose.session)
    return replace(which, session=known_session(records, tenant, whose.session))


def _meant(records: RecordStore, whose: Whose, which: RecordFilter, tenant: str) -> list[RunRecord]:
    if whose.run is not None:
        return [records.record(tenant, whose.run)]
    return list(records.records(tenant, which))


def _what_stays(record: RunRecord) -> DeletedRecord:
    return DeletedRecord(
        run=record.ids.run,
        session=record.ids.session,
        started_at=record.started_at,
        outcome=record.outcome,
    )
