"""The operators' log as people read it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from corpus2skill.application.csv_form import csv_row
from corpus2skill.application.json_form import to_json
from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.audit import AuditEvent, AuditFilter
from corpus2skill.messages import message

_PAGE = 500
_NOT_SET = "—"
"""Stands in a sentence for a value that was left open, as no limit of days."""
CSV_COLUMNS = ("event", "at", "actor", "actor_name", "action", "object", "text", "values")


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedEvent:
    """An event with the name of who did it, where they are still known."""

    event: AuditEvent
    actor_name: str | None


def list_events(
    server: Server, tenant: str, which: AuditFilter, before: str | None, limit: int
) -> tuple[NamedEvent, ...]:
    """The newest first; `before` is the id of the oldest one seen so far."""
    names = _names(server, tenant)
    events = server.audit.events(tenant, before=before, limit=limit, which=which)
    return tuple(NamedEvent(event=event, actor_name=names.get(event.actor)) for event in events)


def export_jsonl(server: Server, tenant: str, which: AuditFilter) -> Iterator[str]:
    """Yield one line of JSON an event, the newest first."""
    for named in _all(server, tenant, which):
        event = named.event
        plain = {
            "event": event.event,
            "at": event.at,
            "actor": event.actor,
            "actor_name": named.actor_name,
            "action": event.action,
            "object": event.object,
            "values": dict(event.values),
        }
        yield json.dumps(to_json(plain)) + "\n"


def export_csv(server: Server, tenant: str, which: AuditFilter, language: str) -> Iterator[str]:
    """Yield a header row, then one row an event, the newest first; no cell can be taken for a formula."""
    yield csv_row(CSV_COLUMNS)
    for named in _all(server, tenant, which):
        event = named.event
        values = json.dumps(dict(event.values), ensure_ascii=False)
        yield csv_row(
            (
                event.event,
                event.at,
                event.actor,
                named.actor_name,
                event.action,
                event.object,
                sentence(language, event),
                values,
            )
        )


def sentence(language: str, event: AuditEvent) -> str:
    """What was done, in words; the action's name where a newer release noted it."""
    values = {name: _NOT_SET if value is None else value for name, value in event.values}
    try:
        return message(language, f"audit.{event.action}", **{**values, "object": event.object})
    except KeyError:
        return event.action


def _all(server: Server, tenant: str, which: AuditFilter) -> Iterator[NamedEvent]:
    before: str | None = None
    while page := list_events(server, tenant, which, before, _PAGE):
        yield from page
        before = page[-1].event.event


def _names(server: Server, tenant: str) -> Mapping[str, str]:
    people = {member.person.person: member.person.name for member in server.people.members(tenant)}
    return people | {token.token: token.name for token in server.tokens.tokens(tenant)}
