"""Runs as objects of the server: whoever asked may go away, come back, or watch with others.

They live in a thread with an event loop of its own. A run writes its record on that loop's time; no other door,
and no stream of events, waits for it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from typing import Literal

from corpus2skill.application.ask import Asking, AskOptions
from corpus2skill.application.choose import chosen_version
from corpus2skill.application.server.dead_runs import DeadRuns
from corpus2skill.application.server.event_writer import EventWriter
from corpus2skill.application.server.open_trees import OpenTrees, TreeKey
from corpus2skill.application.server.patient_records import PatientRecords
from corpus2skill.application.server.reviews import note_ended_run
from corpus2skill.application.server.run_events import told, told_end
from corpus2skill.application.server_wiring import Server
from corpus2skill.application.wiring import Workspace
from corpus2skill.domain.event_log import run_topic
from corpus2skill.domain.hosted import HostedRun, HostedSession
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.run import Heard, RunEvent, RunRecord, RunStarted
from corpus2skill.domain.session import Door
from corpus2skill.errors import Conflict, Corpus2SkillError, RecordNotFound, Stopping, TooMany
from corpus2skill.navigator.cancellation import Cancellation
from corpus2skill.navigator.outcome import CancelReason
from corpus2skill.navigator.question import check_question

_log = logging.getLogger(__name__)

_LEASE_SECONDS = 30.0
_RENEW_SECONDS = 10.0
_RETRY_SECONDS = 1.0
_COME_AGAIN_SECONDS = 2.0
_FAREWELL_SECONDS = 10.0
"""For runs that were ended because the server stops: to write their records."""

RunKey = tuple[str, str]
"""Tenant and run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A question to be answered. None leaves the tenant's settings."""

    session: HostedSession
    user: str | None
    question: str
    door: Door = "http"
    model: str | None = None
    heard_before: Heard | None = None


@dataclass(slots=True, kw_only=True)
class _Live:
    """A run that this process works on."""

    hosted: HostedRun
    order: Order
    cancellation: Cancellation = field(default_factory=Cancellation)
    begun: Future[None] = field(default_factory=Future[None])
    """Done as soon as its record is open; failed where nothing was begun."""
    ended: threading.Event = field(default_factory=threading.Event)
    """Set when its record is written and its end told."""

    @property
    def key(self) -> RunKey:
        return self.hosted.tenant, self.hosted.run


class RunHost:
    """All runs of this process. Any thread may use it."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._writer = EventWriter(server.events)
        self.owner = f"{socket.gethostname()}/{os.getpid()}/{server.ids.new('host')}"
        self._dead = DeadRuns(server, self.owner, _LEASE_SECONDS)
        self._trees = OpenTrees()
        self._workspaces: dict[str, Workspace] = {}
        self._records: dict[str, PatientRecords] = {}
        self._live: dict[RunKey, _Live] = {}
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._is_stopping = False

    def start(self) -> None:
        """Begin to look after runs, those first that a dead process left."""
        if not self._is_stopping:
            self._running_loop()

    def begin(self, order: Order) -> HostedRun:
        """Take on a question and return as soon as its record is open.

        Raises:
            Stopping, TooMany, InvalidQuestion, Conflict, ModelUnusable, ...: nothing was begun.
        """
        workspace = self._workspace(order.session.tenant)
        check_question(order.question, workspace.settings.question_characters)
        live = self._admit(order)
        try:
            corpus, version = order.session.corpus, _active(workspace, order.session.corpus)
            keys = workspace.keys.revision()
            self._server.hosted.add_run(live.hosted)
        except BaseException:
            self._dismiss(live)
            raise
        key = TreeKey(
            tenant=order.session.tenant,
            corpus=corpus,
            version=version,
            model=order.model,
            settings=workspace.settings,
            keys=keys,
        )
        asyncio.run_coroutine_threadsafe(self._work(live, key, workspace), self._running_loop())
        live.begun.result()
        return live.hosted

    def cancel(self, tenant: str, run: str, reason: CancelReason, patience: float) -> None:
        """End a run of this process, and wait so many seconds for its record; nothing where it is over."""
        live = self._live.get((tenant, run))
        if live is None:
            return
        self._running_loop().call_soon_threadsafe(live.cancellation.cancel, reason)
        live.ended.wait(patience)

    def has(self, tenant: str, run: str) -> bool:
        """True while this process works on the run."""
        return (tenant, run) in self._live

    def of_session(self, tenant: str, session: str) -> tuple[str, ...]:
        """Runs of a conversation that this process works on."""
        return tuple(
            live.hosted.run
            for live in list(self._live.values())
            if (live.hosted.tenant, live.hosted.session) == (tenant, session)
        )

    def question(self, tenant: str, run: str) -> str | None:
        """What a run of this process is to answer; None where it is over."""
        live = self._live.get((tenant, run))
        return None if live is None else live.order.question

    @property
    def under_way(self) -> int:
        return len(self._live)

    def settle(self, run: HostedRun) -> None:
        """Close a run whose owner is dead; nothing where it lives."""
        if not self.has(run.tenant, run.run):
            self._dead.settle(run)

    def forget_keys(self, tenant: str) -> None:
        """Have the next question open its model anew: a provider's key of the tenant has changed."""
        if self._loop is not None:
            asyncio.run_coroutine_threadsafe(self._trees.forget(tenant), self._loop)

    def stop(self, patience: float) -> None:
        """Take on nothing more, let runs go on for so many seconds, end the others as stopped, write all."""
        with self._lock:
            loop, thread, is_first = self._loop, self._thread, not self._is_stopping
            self._is_stopping = True
        if loop is None or thread is None or not is_first:
            return
        self._wait_for_all(patience)
        for live in list(self._live.values()):
            loop.call_soon_threadsafe(live.cancellation.cancel, "shutdown")
        self._wait_for_all(_FAREWELL_SECONDS)
        self._writer.close(_FAREWELL_SECONDS)
        asyncio.run_coroutine_threadsafe(self._close(), loop).result(_FAREWELL_SECONDS)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()

    def _admit(self, order: Order) -> _Live:
        session, now = order.session, self._server.clock.now()
        most = self._server.server_settings.runs_at_once
        hosted = HostedRun(
            run=self._server.ids.new("run"),
            tenant=session.tenant,
            session=session.session,
            corpus=session.corpus,
            channel=session.channel,
            door=order.door,
            actor=session.actor,
            end_user=session.end_user,
            asked_at=moment_of(now),
            owner=self.owner,
            lease_until=now.timestamp() + _LEASE_SECONDS,
        )
        live = _Live(hosted=hosted, order=order)
        with self._lock:
            if self._is_stopping:
                raise Stopping
            if sum(tenant == session.tenant for tenant, _ in self._live) >= most:
                raise TooMany("too_many_runs", retry_after=_COME_AGAIN_SECONDS, limit=most)
            self._live[live.key] = live
        return live

    def _dismiss(self, live: _Live) -> None:
        with self._lock:
            self._live.pop(live.key, None)
        live.ended.set()

    def _workspace(self, tenant: str) -> Workspace:
        """The tenant's workspace with its settings of now, and with what its runs of this process share."""
        fresh = self._server.workspace(tenant)
        with self._lock:
            first = self._workspaces.setdefault(tenant, fresh)
            if tenant not in self._records:
                self._records[tenant] = PatientRecords(first.records())
        return replace(fresh, held=first.held, rates=first.rates, turnstile=first.turnstile)

    # In the loop of the runs:

    async def _work(self, live: _Live, key: TreeKey, workspace: Workspace) -> None:
        records = self._records[key.tenant]

        def open_it() -> Asking:
            return Asking.of_version(workspace, key.corpus, key.version, key.model, records=records)

        try:
            async with self._trees.borrow(key, open_it) as asking:
                await asking.ask(self._options(live), self._listener(live), live.cancellation)
        except Exception as error:  # noqa: BLE001 - of a run that was begun the record tells
            if not live.begun.done():
                await self._give_up(live, error)
                return
            _log.exception("run %s broke off", live.hosted.run)
        await self._conclude(live, records)

    def _options(self, live: _Live) -> AskOptions:
        session, order = live.order.session, live.order
        return AskOptions(
            question=order.question,
            session=session.session,
            is_session_known=True,
            run=live.hosted.run,
            channel=session.channel,
            door=order.door,
            tenant=session.tenant,
            user=order.user,
            heard_before=order.heard_before,
        )

    def _listener(self, live: _Live) -> _Listener:
        return _Listener(live, self._writer)

    async def _give_up(self, live: _Live, error: BaseException) -> None:
        """Nothing was begun: the asker is told why, and no trace stays."""
        try:
            await asyncio.to_thread(self._server.hosted.drop_run, *live.key)
        except Corpus2SkillError:
            _log.warning("run %s never began and could not be forgotten", live.hosted.run, exc_info=True)
        self._dismiss(live)
        live.begun.set_exception(error)

    async def _conclude(self, live: _Live, records: PatientRecords) -> None:
        """Tell the end as the record has it, once that is written."""
        record = await asyncio.to_thread(self._written, live, records)
        while record == "later":
            await asyncio.sleep(_RETRY_SECONDS)
            record = await asyncio.to_thread(self._written, live, records)
        if not live.begun.done():
            live.begun.set_result(None)
        if record is not None:
            tenant, run = live.key
            await asyncio.wrap_future(self._writer.write(tenant, run_topic(run), told_end(record)))
        await asyncio.to_thread(self._finish, live, record)
        self._dismiss(live)

    def _written(self, live: _Live, records: PatientRecords) -> RunRecord | Literal["later"] | None:
        """The record of an ended run; None where it was deleted meanwhile."""
        try:
            records.write_waiting(*live.key)
            return records.record(*live.key)
        except RecordNotFound:
            return None
        except Corpus2SkillError:
            _log.warning("the record of run %s is not to be had; tried again", live.hosted.run, exc_info=True)
            return "later"

    def _finish(self, live: _Live, record: RunRecord | None) -> None:
        tenant, run = live.key
        try:
            if record is not None:
                self._server.hosted.finish(tenant, run, moment_of(self._server.clock.now()))
            else:
                self._server.events.forget(tenant, run_topic(run))
                self._server.hosted.drop_run(tenant, run)
        except Corpus2SkillError:  # it is settled later, as one that its owner left behind
            _log.warning("run %s could not be marked as finished", run, exc_info=True)
        if record is not None:
            _measure(self._server, record)
            announce_end(self._server, record)
            note_ended_run(self._server, record)

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._thread = threading.Thread(target=self._live_on, name="runs", daemon=True)
                self._thread.start()
            return self._loop

    def _live_on(self) -> None:
        assert self._loop is not None
        asyncio.set_event_loop(self._loop)
        self._caring = self._loop.create_task(self._care())
        try:
            self._loop.run_forever()
        finally:
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()

    async def _care(self) -> None:
        """Keep what lives alive, and close what died."""
        while True:
            try:
                await asyncio.to_thread(self._care_once)
                await self._trees.close_unused()
            except Corpus2SkillError:
                _log.warning("runs cannot be looked after now; tried again", exc_info=True)
            except Exception:  # noqa: BLE001 - the next time it may not
                _log.exception("looking after runs failed")
            await asyncio.sleep(_RENEW_SECONDS)

    def _care_once(self) -> None:
        until = self._server.clock.now().timestamp() + _LEASE_SECONDS
        if self._live:
            self._server.hosted.renew(self.owner, until)
        self._dead.settle_all(lambda run: self.has(run.tenant, run.run))
        self._dead.forget_old_events()
        self._let_go_of_idle_records()

    def _let_go_of_idle_records(self) -> None:
        """Hold no file open for a tenant who asks nothing; the next question opens it again."""
        with self._lock:
            asking = {tenant for tenant, _ in self._live}
            idle = [records for tenant, records in self._records.items() if tenant not in asking]
        for records in idle:
            records.shut()

    async def _close(self) -> None:
        self._caring.cancel()
        await self._trees.close()
        for records in self._records.values():
            records.shut()

    def _wait_for_all(self, patience: float) -> None:
        until = self._server.clock.monotonic() + patience
        for live in list(self._live.values()):
            live.ended.wait(max(0.0, until - self._server.clock.monotonic()))


def _active(workspace: Workspace, corpus: str) -> int:
    """Raises: Conflict: there is no version to ask. Damaged."""
    if corpus not in workspace.versions.corpora() or workspace.versions.active(corpus) is None:
        raise Conflict("no_version_to_ask", corpus=corpus)
    return chosen_version(workspace, corpus, None)[1]


class _Listener:
    """Notes what happens; the first thing tells whoever asked that it was begun."""

    def __init__(self, live: _Live, writer: EventWriter) -> None:
        self._live = live
        self._writer = writer
        self._topic = run_topic(live.hosted.run)

    def __call__(self, event: RunEvent, /) -> None:
        told_event = told(event)
        if told_event is not None:
            self._writer.write(self._live.hosted.tenant, self._topic, told_event)
        if isinstance(event, RunStarted) and not self._live.begun.done():
            self._live.begun.set_result(None)


def _measure(server: Server, record: RunRecord) -> None:
    usage = record.usage
    server.traces.run(record)
    server.measures.run(
        record.outcome,
        record.total_ms / 1000,
        model=record.model,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        dollars=record.usd,
    )


def announce_end(server: Server, record: RunRecord) -> None:
    """Tell the tenant's systems of a question that the corpus has no answer to."""
    if record.outcome == "not_found":
        payload: dict[str, object] = {
            "run_id": record.ids.run,
            "session_id": record.ids.session,
            "corpus": record.ids.corpus,
            "version": record.ids.version,
            "channel": record.channel,
            "door": record.door,
        }
        server.announcer.announce(record.ids.tenant, "run.not_found", payload)
