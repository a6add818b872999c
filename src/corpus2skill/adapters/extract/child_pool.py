"""Reading processes: begun when first needed, used again and again, killed and replaced when they break a bound."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import sys
import threading
import weakref
from collections.abc import AsyncGenerator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from corpus2skill.adapters.extract.child_words import (
    OUT_OF_MEMORY,
    Done,
    Extract,
    Limit,
    Member,
    Next,
    Open,
    Refused,
    Reply,
    Request,
    Setup,
    Text,
    TooLong,
    receive,
    send,
)
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.domain.corpus import ExtractedText, SourceFile, SourceReport
from corpus2skill.errors import SourceRefused

_EXTRACT = "corpus2skill.adapters.extract.extractors:extract_document"
_MEMBERS = "corpus2skill.adapters.extract.members:members_of"
_BEGIN = """\
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from corpus2skill.adapters.extract.child import main
main(int(sys.argv[2]))
"""
_MOST_AT_ONCE = 4
_GRACE_SECONDS = 5.0
"""The process ends itself in time; this much later it is killed should it not."""
_NEARLY = 0.8
_LOOK_AGAIN_MS = 40
_PAGE = 4096 if sys.platform == "win32" else os.sysconf("SC_PAGESIZE")


class ChildPool:
    """As many documents at once as there are cores, at most four. For the tasks of one event loop."""

    def __init__(
        self,
        limits: Limits,
        *,
        size: int | None = None,
        extract: str = _EXTRACT,
        members: str = _MEMBERS,
        grace: float = _GRACE_SECONDS,
    ) -> None:
        """`extract` and `members` are `module:function` of what a process runs; `grace` is in seconds."""
        self._limits, self._grace = limits, grace
        self._setup = Setup(extract, members, limits)
        self.size = size or min(os.cpu_count() or 1, _MOST_AT_ONCE)
        self._slots = asyncio.Semaphore(self.size)
        self._idle: list[_Child] = []
        self._all: set[_Child] = set()
        weakref.finalize(self, _kill_all, self._all, os.getpid())

    async def extract(self, file: SourceFile) -> ExtractedText:
        """Return the text of one document.

        Raises:
            SourceRefused: as the reader does; `too_large` with `time`, `memory` or `output`, `hostile` with
                `crash` or `corrupt` with `reader` where the document broke a bound or its reader.
        """
        async with self._slots:
            child = self._taken()
            reply = await self._said(child, Extract(file.source, file.data))
        if isinstance(reply, Text):
            self._give_back(child, is_spent=reply.is_spent)
            return reply.extracted
        raise self._refusal(child, reply)

    async def members(self, file: SourceFile) -> AsyncGenerator[SourceFile | SourceReport]:
        """Yield the documents within one. Its process is beside the others: they read what it yields.

        Raises:
            SourceRefused: as `extract`.
        """
        child = self._taken()
        try:
            reply = await self._said(child, Open(file.source, file.data))
            while isinstance(reply, Member) and (member := reply.file or reply.report):
                yield member
                reply = await self._said(child, Next())
            if not isinstance(reply, Done):
                raise self._refusal(child, reply)
            self._give_back(child, is_spent=reply.is_spent)
        finally:
            if child not in self._idle:
                self._drop(child)

    @property
    def processes(self) -> tuple[int, ...]:
        """The ids of the processes there are."""
        return tuple(child.id for child in self._all)

    def _taken(self) -> _Child:
        """Return an idle process, or a new one. It is begun by the thread of the loop: it ends with that thread."""
        while self._idle:
            child = self._idle.pop()
            if child.is_alive():
                return child
            self._drop(child)
        child = _Child(self._setup)
        self._all.add(child)
        return child

    async def _said(self, child: _Child, request: Request) -> Reply:
        try:
            async with asyncio.timeout(self._limits.max_seconds + self._grace):
                return await asyncio.to_thread(child.said, request)
        except TimeoutError:
            self._drop(child)
            raise child.over("time") from None
        except BaseException:  # cancelled, too: nobody waits for it any more
            self._drop(child)
            raise

    def _refusal(self, child: _Child, reply: Reply) -> SourceRefused:
        if not isinstance(reply, Refused):
            self._drop(child)
            return SourceRefused("hostile", "crash", reason=type(reply).__name__)
        self._give_back(child, is_spent=reply.is_spent)
        return SourceRefused(reply.verdict, reply.detail, **reply.values)

    def _give_back(self, child: _Child, *, is_spent: bool) -> None:
        if is_spent or len(self._idle) >= self.size:
            self._drop(child)
        else:
            self._idle.append(child)

    def _drop(self, child: _Child) -> None:
        self._all.discard(child)
        child.kill()


class _Child:
    """One process as its owner sees it."""

    def __init__(self, setup: Setup) -> None:
        self._limits = setup.limits
        arguments = [sys.executable, "-P", "-c", _BEGIN, json.dumps(sys.path), str(os.getpid())]
        self._process = subprocess.Popen(  # noqa: S603 - our own program
            arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
            env={**os.environ, "MALLOC_ARENA_MAX": "1"},
        )
        self._writing = cast("BinaryIO", self._process.stdin)
        self._reading = cast("BinaryIO", self._process.stdout)
        self._most_resident = 0
        self._setup: Setup | None = setup
        self._talking = threading.Lock()
        self.id = self._process.pid

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def said(self, request: Request) -> Reply:
        """Ask and wait for the answer; blocks.

        Raises:
            SourceRefused: the process ended over it, or said what it should not.
        """
        with self._talking:
            try:
                return msgspec.msgpack.decode(self._answer(request), type=Reply)
            except TooLong:
                raise self.over("output") from None
            except msgspec.MsgspecError as error:
                raise SourceRefused("hostile", "crash", reason=type(error).__name__) from error
            except (EOFError, OSError, ValueError):
                raise self._ended() from None

    def _answer(self, request: Request) -> bytearray:
        if self._setup is not None:
            send(self._writing, self._setup)
            self._setup = None
        send(self._writing, request)
        self._watch()
        return receive(self._reading, at_most=self._limits.max_output_bytes)

    def _watch(self) -> None:
        """Wait for the answer, and see how much memory it takes: a library without any may just crash."""
        self._most_resident = 0
        answer = select.poll()
        answer.register(self._reading, select.POLLIN)
        while not answer.poll(_LOOK_AGAIN_MS):
            self._most_resident = max(self._most_resident, _resident(self.id))

    def over(self, limit: Limit) -> SourceRefused:
        values: dict[Limit, int | float] = {
            "time": self._limits.max_seconds,
            "memory": self._limits.max_memory_bytes,
            "output": self._limits.max_output_bytes,
        }
        return SourceRefused("too_large", limit, limit=values[limit])

    def kill(self) -> None:
        """End the process and all it may have begun; whoever waits for its answer learns of it."""
        self._signal()
        with self._talking:
            self._process.wait()
            self._writing.close()
            self._reading.close()

    def _ended(self) -> SourceRefused:
        """Tell from how the process ended what the document did."""
        self._signal()  # it is ending: what it ended by is not changed any more
        status = self._process.wait()
        if status in {-signal.SIGALRM, -signal.SIGXCPU}:
            return self.over("time")
        is_full = self._most_resident > _NEARLY * self._limits.max_memory_bytes
        is_killed = status == -signal.SIGKILL  # by a system that lacks memory: nobody else does
        if is_full or is_killed or status == OUT_OF_MEMORY:
            return self.over("memory")
        return SourceRefused("hostile", "crash", reason=_ending(status))

    def _signal(self) -> None:
        if self._process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.id, signal.SIGKILL)


def _resident(process: int) -> int:
    """Return the bytes that a process holds; 0 where the system does not say."""
    try:
        statm = Path(f"/proc/{process}/statm").read_text(encoding="ascii")
    except OSError:
        return 0
    return int(statm.split()[1]) * _PAGE


def _ending(status: int) -> str:
    return signal.Signals(-status).name if status < 0 else f"exit {status}"


def _kill_all(children: set[_Child], owner: int) -> None:
    """End what is left; not in a fork of the owner, whose children they are not."""
    if os.getpid() == owner:
        for child in children:
            child.kill()
