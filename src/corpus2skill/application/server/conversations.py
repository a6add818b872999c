"""Conversations and runs as those see them who may: their own, or, for reviewers, everybody's."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass

from corpus2skill.application.server.corpora import require_corpus
from corpus2skill.application.server.reviews import note_feedback
from corpus2skill.application.server.run_events import replayed
from corpus2skill.application.server.runs import Order, RunHost
from corpus2skill.application.server_wiring import Server
from corpus2skill.application.show_records import opened_records
from corpus2skill.domain.event_log import run_topic
from corpus2skill.domain.feedback import Feedback, FeedbackReason
from corpus2skill.domain.hosted import Asker, HostedRun, HostedSession
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.people import Principal
from corpus2skill.domain.run import RunRecord
from corpus2skill.domain.session import Channel, Door
from corpus2skill.errors import Conflict, RecordNotFound, ThingNotFound
from corpus2skill.ports.store import RecordFilter, RecordStore

_REVIVING = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A run as it stands: with its record, or, while it is under way, with the visits told so far."""

    hosted: HostedRun
    record: RunRecord | None
    feedback: Feedback | None = None
    question: str | None = None
    """Of a run under way."""
    started: Mapping[str, object] | None = None
    """Of a run under way: how its beginning was told."""
    visits: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """What somebody says of an answer."""

    is_helpful: bool
    reasons: tuple[FeedbackReason, ...]
    comment: str | None


def asker_of(principal: Principal, end_user: str | None) -> Asker:
    """The one who asks; a program says for whom."""
    return Asker(tenant=principal.tenant, actor=principal.actor, end_user=end_user)


def begin_session(server: Server, asker: Asker, corpus: str, channel: Channel) -> HostedSession:
    """Raises: CorpusNotFound."""
    require_corpus(server, asker.tenant, corpus)
    session = HostedSession(
        session=server.ids.new("session"),
        tenant=asker.tenant,
        corpus=corpus,
        channel=channel,
        actor=asker.actor,
        end_user=asker.end_user,
        created_at=moment_of(server.clock.now()),
    )
    server.hosted.add_session(session)
    return session


def own_session(server: Server, asker: Asker, session: str) -> HostedSession:
    """Raises: ThingNotFound: there is none of this id that belongs to `asker`."""
    found = server.hosted.session(asker.tenant, session)
    if not found.belongs_to(asker):
        raise ThingNotFound("session", session)
    return found


def last_questions(server: Server, tenant: str, sessions: tuple[HostedSession, ...]) -> dict[str, str]:
    """What was asked last in each conversation that has a record."""
    with opened_records(server.workspace(tenant)) as records:
        newest = (
            next(records.records(tenant, RecordFilter(session=session.session, limit=1)), None)
            for session in sessions
        )
        return {record.ids.session: record.question for record in newest if record is not None}


def ask(
    host: RunHost, session: HostedSession, question: str, *, door: Door = "http", model: str | None = None
) -> HostedRun:
    """Begin a run.

    Raises:
        whatever `RunHost.begin` does: nothing was begun.
    """
    asker = Asker(tenant=session.tenant, actor=session.actor, end_user=session.end_user)
    return host.begin(Order(session=session, user=asker.user, question=question, door=door, model=model))


def visible_run(server: Server, principal: Principal, end_user: str | None, run: str) -> HostedRun:
    """The run, for one who may see it: who asked, or a reviewer.

    Raises:
        ThingNotFound: there is none of this id that they may see. NotAllowed.
    """
    if "records" not in principal.scopes:
        principal.require("ask")
        return own_run(server, principal, end_user, run)
    found = server.hosted.run(principal.tenant, run)
    if end_user not in (None, found.end_user):
        raise ThingNotFound("run", run)
    return found


def own_run(server: Server, principal: Principal, end_user: str | None, run: str) -> HostedRun:
    """Raises: ThingNotFound: there is none of this id that they asked."""
    found = server.hosted.run(principal.tenant, run)
    if found.actor != principal.actor or end_user not in (None, found.end_user):
        raise ThingNotFound("run", run)
    return found


def look_at(server: Server, host: RunHost, run: HostedRun) -> RunView:
    """Raises: ThingNotFound: what it said was deleted, or it never came about."""
    with opened_records(server.workspace(run.tenant)) as records:
        return _look(server, host, run, records)


def turns_of(
    server: Server, host: RunHost, session: HostedSession, before: str | None, limit: int
) -> list[RunView]:
    """Runs of a conversation, newest first, deleted ones left out."""
    views: list[RunView] = []
    with opened_records(server.workspace(session.tenant)) as records:
        for run in server.hosted.runs(session.tenant, session.session, before=before, limit=limit):
            try:
                views.append(_look(server, host, run, records))
            except ThingNotFound:
                continue
    return views


def watchable(server: Server, run: HostedRun) -> str:
    """The topic of a run's events. Those of one that ended long ago are made again from its record.

    Raises:
        ThingNotFound: what it said was deleted.
    """
    topic = run_topic(run.run)
    if run.finished_at is None or server.events.newest([(run.tenant, topic)]):
        return topic
    with _REVIVING, opened_records(server.workspace(run.tenant)) as records:
        if not server.events.newest([(run.tenant, topic)]):
            record = _record(records, run)
            if record is None:
                raise ThingNotFound("run", run.run)
            server.events.append(run.tenant, topic, replayed(record))
            server.hosted.finish(run.tenant, run.run, moment_of(server.clock.now()))
    return topic


def judge(server: Server, host: RunHost, principal: Principal, run: HostedRun, said: Judgement) -> Feedback:
    """Keep what somebody says of an answer, in the place of what was said before.

    Raises:
        Conflict: it is still being answered.
        ThingNotFound: what it said was deleted.
    """
    feedback = Feedback(
        is_helpful=said.is_helpful,
        reasons=said.reasons,
        comment=said.comment or None,
        given_at=moment_of(server.clock.now()),
        given_by=principal.actor,
    )
    with opened_records(server.workspace(run.tenant)) as records:
        view = _look(server, host, run, records)
        if view.record is None:
            raise Conflict("run_not_finished", run=run.run)
        records.put_feedback(run.tenant, run.run, feedback)
    note_feedback(server, view.record, feedback)
    if not feedback.is_helpful and (view.feedback is None or view.feedback.is_helpful):
        _announce(server, view.record, feedback)
    return feedback


def _announce(server: Server, record: RunRecord, feedback: Feedback) -> None:
    payload: dict[str, object] = {
        "run_id": record.ids.run,
        "session_id": record.ids.session,
        "corpus": record.ids.corpus,
        "version": record.ids.version,
        "outcome": record.outcome,
        "reasons": list(feedback.reasons),
        "has_comment": feedback.comment is not None,
    }
    server.announcer.announce(record.ids.tenant, "feedback.negative", payload)


def _look(server: Server, host: RunHost, run: HostedRun, records: RecordStore) -> RunView:
    record = _record(records, run)
    if record is None and run.finished_at is None and not host.has(run.tenant, run.run):
        host.settle(run)
        record = _record(records, run)
    if record is not None:
        return RunView(
            hosted=run, record=record, feedback=records.feedback(run.tenant, (run.run,)).get(run.run)
        )
    if not host.has(run.tenant, run.run):  # of another process, or there is nothing of it any more
        run = server.hosted.run(run.tenant, run.run)
        if run.finished_at is not None:
            raise ThingNotFound("run", run.run)
    return _under_way(server, host, run)


def _record(records: RecordStore, run: HostedRun) -> RunRecord | None:
    try:
        return records.record(run.tenant, run.run)
    except RecordNotFound:
        return None


def _under_way(server: Server, host: RunHost, run: HostedRun) -> RunView:
    events = server.events.since(run.tenant, run_topic(run.run), 0, limit=5_000)
    started = next((event.payload for event in events if event.kind == "run.started"), None)
    told = None if started is None else started.get("question")
    return RunView(
        hosted=run,
        record=None,
        question=host.question(run.tenant, run.run) or (told if isinstance(told, str) else None),
        started=started,
        visits=tuple(event.payload for event in events if event.kind == "node.visited"),
    )
