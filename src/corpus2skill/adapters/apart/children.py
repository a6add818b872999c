"""Work in child processes: one for each lane, begun when first needed and ended when nobody has needed it a while."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import ParamSpec, TypeVar, cast

from corpus2skill.adapters.apart.child import Answered, Asked
from corpus2skill.errors import BrokenOff, TooMany
from corpus2skill.ports.apart import Lane

P = ParamSpec("P")
T = TypeVar("T")

_MODULE = "corpus2skill.adapters.apart.child"


@dataclass(frozen=True, slots=True, kw_only=True)
class Patience:
    """How much may wait, and how long, in seconds."""

    each: int = 4
    """At work or waiting of one tenant, in one lane."""
    all: int = 16
    waiting: float = 60.0
    """For one's turn."""
    working: float = 600.0
    idle: float = 120.0
    """After so long without work a child ends and gives its memory back."""


class Children:
    """`ports.apart.Apart` in processes of lower priority. They end with this process, however it ends."""

    def __init__(self, patience: Patience | None = None) -> None:
        self._patience = patience or Patience()
        self._lanes: dict[Lane, _LaneOfWork] = {}
        self._lock = threading.Lock()

    def call(self, lane: Lane, whose: str, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        with self._lock:
            its = self._lanes.setdefault(lane, _LaneOfWork(self._patience))
        answered = its.ask(whose, Asked(work=work, args=args, kwargs=kwargs))
        if answered.error is not None:
            raise answered.error
        return cast("T", answered.value)

    def close(self) -> None:
        for lane in self._lanes.values():
            lane.end()


class _LaneOfWork:
    """One child, which does one thing at a time."""

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
        self._turn = threading.Lock()
        self._counting = threading.Lock()
        self._waiting = Counter[str]()
        self._child: _Child | None = None
        self._resting: threading.Timer | None = None
        self._is_over = False

    def ask(self, whose: str, asked: Asked) -> Answered:
        """Raises: TooMany, BrokenOff."""
        with self._counted(whose), self._turn_of_ours():
            child = self._ready()
            try:
                answered = child.ask(asked, self._patience.working)
            except BaseException:
                self._let_go()
                raise
            if answered.is_last:
                self._let_go()
            else:
                self._rest()
            return answered

    def end(self) -> None:
        """Kill the child, which only ever reads, whatever it is at."""
        self._is_over = True
        child = self._child
        if child is not None:
            child.end()
        if self._resting is not None:
            self._resting.cancel()

    def _ready(self) -> _Child:
        if self._resting is not None:
            self._resting.cancel()
        if self._is_over:
            raise BrokenOff
        if self._child is None:
            self._child = _Child()
        return self._child

    def _let_go(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            child.end()

    def _rest(self) -> None:
        self._resting = threading.Timer(self._patience.idle, self._tidy)
        self._resting.daemon = True
        self._resting.start()

    def _tidy(self) -> None:
        """End the child, unless somebody has come meanwhile."""
        if self._turn.acquire(blocking=False):
            try:
                self._let_go()
            finally:
                self._turn.release()

    @contextmanager
    def _counted(self, whose: str) -> Generator[None]:
        with self._counting:
            if self._waiting[whose] >= self._patience.each or self._waiting.total() >= self._patience.all:
                raise TooMany("too_much_at_once", retry_after=5.0)
            self._waiting[whose] += 1
        try:
            yield
        finally:
            with self._counting:
                self._waiting[whose] -= 1
                self._waiting += Counter()  # forgets those of whom nothing waits

    @contextmanager
    def _turn_of_ours(self) -> Generator[None]:
        if not self._turn.acquire(timeout=self._patience.waiting):
            raise TooMany("too_much_at_once", retry_after=30.0)
        try:
            yield
        finally:
            self._turn.release()


class _Child:
    """A child process and the socket to it."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            number = theirs.fileno()
            self._process = subprocess.Popen(  # noqa: S603 - this Python, and a number
                (sys.executable, "-m", _MODULE, str(number)),
                pass_fds=(number,),
                stdin=subprocess.DEVNULL,
                start_new_session=True,  # the terminal's Ctrl-C is for the server
            )
        self._connection = Connection(ours.detach())

    def ask(self, asked: Asked, patience: float) -> Answered:
        """Raises: BrokenOff: it is dead, or took too long."""
        try:
            self._connection.send(asked)
            if not self._connection.poll(patience):
                raise BrokenOff
            answered = self._connection.recv()
        except (EOFError, OSError) as error:
            raise BrokenOff from error
        assert isinstance(answered, Answered)
        return answered

    def end(self) -> None:
        """Kill and bury it. A thread that waits for its answer is told that it is dead."""
        self._process.kill()
        self._process.wait()
        with suppress(OSError):
            self._connection.close()
