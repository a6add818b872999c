"""The worker's duty on test runs: ask their questions in turn, whoever's they are, and go on where one was left."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
import threading
from collections.abc import Callable
from dataclasses import replace

from corpus2skill.application.ask import Asking, AskOptions
from corpus2skill.application.manage_versions import require_whole
from corpus2skill.application.server.dead_runs import has_died
from corpus2skill.application.server.exam_gate import require_tests
from corpus2skill.application.server.exam_turns import becoming, tell_result, tell_state
from corpus2skill.application.server.resting import Rest
from corpus2skill.application.server.versions import SwitchRequest, switch_to
from corpus2skill.application.server_wiring import Server
from corpus2skill.application.wiring import OFFLINE, Workspace, evaluation_tenant
from corpus2skill.domain.audit import SYSTEM
from corpus2skill.domain.exam import Exam, ExamResult, judged
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.run import RunEvent, RunRecord
from corpus2skill.domain.server_job import Cause, ending_of
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.navigator.cancellation import Cancellation

_log = logging.getLogger(__name__)

_TURN_QUESTIONS = 20
"""So many are asked before another test run has its turn."""
_LEASE_SECONDS = 600.0
"""Longer than one question may take."""
_REST_SECONDS = 1.0
_FRUITLESS = 3
"""So many failures of the model in a row, and the rest of the questions is not asked."""
_FAILED = ("model_failed", "tree_unavailable")
_BROKEN_OFF = ("cancelled", "interrupted", "stopped", "budget")
"""Outcomes that say nothing of the version."""


async def carry_out_exams(server: Server, stop: asyncio.Event) -> None:
    """The duty: take up test runs that wait and ask some of their questions."""
    examiner, rest = Examiner(server), Rest(server, _REST_SECONDS)
    while not stop.is_set():
        rest.look()
        turn = asyncio.ensure_future(asyncio.to_thread(examiner.turn))
        stopping = asyncio.ensure_future(stop.wait())
        await asyncio.wait((turn, stopping), return_when=asyncio.FIRST_COMPLETED)
        stopping.cancel()
        if not turn.done():
            examiner.leave()
        if not await turn:
            await rest.until_written(stop)


class Examiner:
    """Asks test questions, one at a time. To be turned by one thread; `leave` may be called from another."""

    def __init__(self, server: Server, questions: int = _TURN_QUESTIONS) -> None:
        """`questions`: of one test run before another has its turn."""
        self._server = server
        self._questions = questions
        self._owner = f"{socket.gethostname()}/{os.getpid()}/{server.ids.new('host')}"
        self._is_leaving = threading.Event()
        self._under_way: tuple[asyncio.AbstractEventLoop, Cancellation] | None = None
        self._lock = threading.Lock()

    def turn(self) -> bool:
        """Ask some questions of the test run that waited longest; False where none waits, or none can be had."""
        try:
            exam = self._claimed()
            if exam is None:
                return False
            asyncio.run(self._work(exam))
        except Corpus2SkillError:
            _log.warning("test runs cannot be looked after now; tried again", exc_info=True)
            return False
        return True

    def leave(self) -> None:
        """Have the question under way broken off; its test run is gone on with by whoever comes."""
        self._is_leaving.set()
        with self._lock:
            if self._under_way is not None:
                loop, cancellation = self._under_way
                loop.call_soon_threadsafe(cancellation.cancel, "shutdown")

    def _claimed(self) -> Exam | None:
        now = self._server.clock.now().timestamp()
        left = [exam for exam in self._server.exams.running() if _is_left(exam, self._owner)]
        for exam in (*left, *self._server.exams.waiting(now)):
            claimed = self._server.exams.change(exam.tenant, exam.exam, self._claim(now))
            if claimed is not None:
                if claimed.started_at == claimed.turned_at:
                    tell_state(self._server, claimed)
                return claimed
        return None

    def _claim(self, now: float) -> Callable[[Exam], Exam | None]:
        def turn(was: Exam) -> Exam | None:
            is_free = was.state == "running" and (was.lease_until < now or _is_left(was, self._owner))
            if was.state != "queued" and not is_free:
                return None
            at = moment_of(self._server.clock.now())
            return replace(
                was,
                state="running",
                cause=None,
                owner=self._owner,
                lease_until=now + _LEASE_SECONDS,
                turned_at=at,
                started_at=was.started_at or at,
            )

        return turn

    async def _work(self, exam: Exam) -> None:
        """Ask some of its questions, and say how it stands then."""
        try:
            becomes = await self._ask_some(exam)
        except Exception as error:  # noqa: BLE001 - a door: every failure becomes a state
            cause = ending_of(error).cause
            _log.warning("test run %s cannot go on: %s", exam.exam, error, exc_info=error)
            becomes = becoming(self._server, exam, "failed", cause)
        changed = self._server.exams.change(exam.tenant, exam.exam, self._standing(becomes))
        if changed is None or changed.state in ("queued", "running"):
            return
        if changed.state == "finished" and changed.job is not None:
            changed = self._switched(changed)
        tell_state(self._server, changed)

    def _standing(self, becomes: Exam) -> Callable[[Exam], Exam | None]:
        def turn(was: Exam) -> Exam | None:
            if was.state != "running" or was.owner != self._owner:
                return None
            return becoming(self._server, was, becomes.state, becomes.cause)

        return turn

    async def _ask_some(self, exam: Exam) -> Exam:
        """How the test run stands after its turn."""
        workspace = self._server.workspace(exam.tenant)
        failures = 0
        results = self._server.exams.unasked(exam.tenant, exam.exam, self._questions)
        for result in results:
            if self._is_leaving.is_set():
                return becoming(self._server, exam, "queued")
            if _is_spent(exam):
                return _paused(self._server, exam)
            record = await self._asked(workspace, exam, result)
            if record.outcome in _BROKEN_OFF:
                paused = record.outcome == "budget" and not self._is_leaving.is_set()
                exam = replace(exam, dollars=exam.dollars + (record.usd or 0.0))
                return _paused(self._server, exam) if paused else becoming(self._server, exam, "queued")
            failures = failures + 1 if record.outcome in _FAILED else 0
            if failures >= _FRUITLESS:
                return becoming(self._server, exam, "failed", _cause(record))
            kept = self._kept(exam, judged(result, record))
            if kept is None:
                return exam
            exam = kept
        is_over = len(results) < self._questions
        return becoming(self._server, exam, "finished" if is_over else "queued")

    def _kept(self, exam: Exam, result: ExamResult) -> Exam | None:
        """The test run with that result; None where it is somebody else's, or was cancelled."""
        until = self._server.clock.now().timestamp() + _LEASE_SECONDS
        kept = self._server.exams.put_result(exam.tenant, exam.exam, result, self._owner, until)
        if kept is not None:
            tell_result(self._server, kept, result)
        return kept

    async def _asked(self, workspace: Workspace, exam: Exam, result: ExamResult) -> RunRecord:
        """Ask one question in a conversation of its own; of what is left of the cap no more is spent."""
        cancellation = Cancellation()
        options = AskOptions(question=result.text, door="http", tenant=evaluation_tenant(exam.tenant))
        with self._lock:
            self._under_way = asyncio.get_running_loop(), cancellation
        try:
            opened = Asking.of_version(_capped(workspace, exam), exam.corpus, exam.version, exam.model)
            async with opened as asking:
                return await asking.ask(options, _unheard, cancellation)
        finally:
            with self._lock:
                self._under_way = None

    def _switched(self, exam: Exam) -> Exam:
        """Switch to the version of a compile whose tests went well, unless somebody else has switched."""
        try:
            require_tests(self._server, exam.tenant, exam.corpus, exam.version)
            require_whole(self._server.workspace(exam.tenant), exam.corpus, exam.version)
            wanted = SwitchRequest(seen=self._seen(exam))
            switch_to(self._server, exam.tenant, SYSTEM, exam.corpus, exam.version, wanted)
        except Corpus2SkillError as error:
            _log.info("version %s of %s is not switched to: %s", exam.version, exam.corpus, error)
            cause = ending_of(error).cause
            changed = self._server.exams.change(exam.tenant, exam.exam, lambda was: replace(was, cause=cause))
        else:
            changed = self._server.exams.change(
                exam.tenant, exam.exam, lambda was: replace(was, is_switched=True)
            )
        return changed or exam

    def _seen(self, exam: Exam) -> int | None:
        """The version that may be left for a tested one: the one from then, or one of a compile that came between
        and was itself switched to after its tests. What a person has switched to stays.
        """
        active = self._server.workspace(exam.tenant).versions.active(exam.corpus)
        if active is None or active >= exam.version:
            return exam.switches_from
        of_active = self._server.exams.exams(exam.tenant, exam.corpus, version=active)
        return active if any(other.is_switched for other in of_active) else exam.switches_from


def _is_left(exam: Exam, owner: str) -> bool:
    """True where the process that asked its questions is no more."""
    return exam.owner is not None and exam.owner != owner and has_died(exam.owner)


def _is_spent(exam: Exam) -> bool:
    return exam.model != OFFLINE and exam.max_cost is not None and exam.dollars >= exam.max_cost


def _paused(server: Server, exam: Exam) -> Exam:
    values = {"cap": exam.max_cost or 0.0, "spent": exam.dollars}
    return becoming(server, exam, "paused_budget", Cause(code="tests_cap_reached", values=values))


def _capped(workspace: Workspace, exam: Exam) -> Workspace:
    """The workspace with no more for a question than is left of the cap."""
    if exam.model == OFFLINE or exam.max_cost is None:
        return workspace
    left = exam.max_cost - exam.dollars
    usual = workspace.settings.question_cost
    limit = left if usual is None else min(usual, left)
    return replace(workspace, settings=replace(workspace.settings, question_cost=limit))


def _cause(record: RunRecord) -> Cause:
    return Cause(code=record.error_code or "model_error", values=dict(record.error_values))


def _unheard(_event: RunEvent) -> None:
    """A test run looks at records, not at events."""
