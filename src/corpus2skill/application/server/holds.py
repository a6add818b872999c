"""Legal holds: what nobody deletes until they are lifted."""

from __future__ import annotations

from corpus2skill.application.delete_records import Whose
from corpus2skill.application.server_wiring import Server
from corpus2skill.application.show_records import opened_records
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.people import Principal
from corpus2skill.domain.retention import HoldKind, LegalHold
from corpus2skill.errors import Conflict, RecordNotFound
from corpus2skill.ports.store import RecordFilter


def place_hold(server: Server, by: Principal, kind: HoldKind, name: str, reason: str) -> LegalHold:
    """Hold a conversation, an end user's conversations, or a corpus with all that was asked of it.

    What is not there may be held: it may come.
    """
    hold = LegalHold(
        hold=server.ids.new("hold"),
        tenant=by.tenant,
        kind=kind,
        name=name,
        reason=reason,
        placed_at=moment_of(server.clock.now()),
        placed_by=by.actor,
    )
    server.retention.place(hold)
    server.audit.note(by.tenant, by.actor, "hold.placed", hold.hold, kind=kind, reason=reason)
    return hold


def lift_hold(server: Server, by: Principal, hold: str) -> LegalHold:
    """Raises: ThingNotFound."""
    lifted = server.retention.lift(by.tenant, hold)
    server.audit.note(by.tenant, by.actor, "hold.lifted", hold, kind=lifted.kind, reason=lifted.reason)
    return lifted


def check_free(
    server: Server,
    tenant: str,
    *,
    session: str | None = None,
    user: str | None = None,
    corpus: str | None = None,
) -> None:
    """Raises: Conflict: a hold covers it."""
    for hold in server.retention.holds(tenant):
        if hold.covers(session=session, user=user, corpus=corpus):
            raise Conflict("on_hold", hold=hold.hold, reason=hold.reason)


def check_records_free(server: Server, tenant: str, whose: Whose) -> None:
    """Raises: Conflict: a hold covers one of the records that are meant."""
    if not server.retention.holds(tenant):
        return
    check_free(server, tenant, session=whose.session, user=whose.user)
    with opened_records(server.workspace(tenant)) as records:
        try:
            found = (
                [records.record(tenant, whose.run)]
                if whose.run
                else records.records(tenant, RecordFilter(session=whose.session, user=whose.user))
            )
        except RecordNotFound:
            return
        for record in found:
            check_free(server, tenant, session=record.ids.session, user=record.user, corpus=record.ids.corpus)
