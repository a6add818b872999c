"""The process that reads documents for another: within bounds that the kernel holds, even if its owner sleeps.

Each document has its time on the clock and on the processor; the memory is bounded for the process. Whatever
breaks a bound ends the process at once; its owner tells from the way it ended what to say of the document.
"""

from __future__ import annotations

import ctypes
import math
import os
import queue
import resource
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import BinaryIO, cast

import msgspec

from corpus2skill.adapters.extract.child_words import (
    MAXRSS_UNIT,
    OUT_OF_MEMORY,
    Done,
    Extract,
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
from corpus2skill.domain.corpus import ExtractedText, Refusal, SourceFile, SourceReport
from corpus2skill.errors import SourceRefused

_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_STATM, _STATUS = Path("/proc/self/statm"), Path("/proc/self/status")
_WATCH_SECONDS = 0.05
_SPENT_SHARE = 0.4
_TIGHT_SHARE = 0.7

_Extract = Callable[[str, bytes, Limits], ExtractedText]
_Members = Callable[[str, bytes, Limits], Iterator[SourceFile | SourceReport]]


def main(parent: int) -> None:
    """Serve the owner at the other end of standard input and output until it goes away."""
    with suppress(EOFError, OSError, msgspec.MsgspecError):
        _Server(_own_streams(), parent).serve()
    os._exit(0)


def _own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Take the two pipes out of reach of anything that prints."""
    pipes = (os.fdopen(os.dup(0), "rb", buffering=0), os.fdopen(os.dup(1), "wb", buffering=0))
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nothing, stream)
    return cast("tuple[BinaryIO, BinaryIO]", pipes)


class _Server:
    """Answers one request after the other."""

    def __init__(self, pipes: tuple[BinaryIO, BinaryIO], parent: int) -> None:
        self._reading, self._writing = pipes
        setup = msgspec.msgpack.decode(receive(self._reading), type=Setup)
        self._setup, self._limits = setup, setup.limits
        self._bounds = _Bounds(setup.limits)
        self._requests: queue.SimpleQueue[bytearray] = queue.SimpleQueue()
        self._members: Iterator[SourceFile | SourceReport] = iter(())
        _end_with(parent)
        threading.Thread(target=self._listen, daemon=True).start()

    def serve(self) -> None:
        while True:
            request = msgspec.msgpack.decode(self._requests.get(), type=Request)
            self._bounds.begin(is_new=not isinstance(request, Next))
            self._send(self._reply(request))
            self._bounds.pause()

    def _listen(self) -> None:
        """Take the requests in, and notice at once, even in the middle of a document, that the owner is gone."""
        try:
            while True:
                self._requests.put(receive(self._reading))
        except MemoryError:
            os._exit(OUT_OF_MEMORY)
        except (EOFError, OSError):
            os._exit(0)

    def _send(self, reply: Reply) -> None:
        try:
            send(self._writing, reply, at_most=self._limits.max_output_bytes)
        except TooLong:
            send(self._writing, self._over("output", self._limits.max_output_bytes))
        except MemoryError:
            send(self._writing, self._over("memory", self._limits.max_memory_bytes))

    def _reply(self, request: Request) -> Reply:
        try:
            return self._answered(request)
        except SourceRefused as refusal:
            values = cast("dict[str, str | int | float]", refusal.values)
            verdict: Refusal = refusal.verdict  # type: ignore[assignment] - readers give refusing verdicts only
            if (
                verdict == "corrupt" and self._bounds.was_tight()
            ):  # some libraries call their want of memory so
                return self._over("memory", self._limits.max_memory_bytes)
            return Refused(verdict, refusal.detail, values, self._bounds.is_spent())
        except MemoryError:
            return self._over("memory", self._limits.max_memory_bytes)
        except Exception as error:  # noqa: BLE001 - whatever a broken file does to a reader, the others go on
            return Refused("corrupt", "reader", {"error": _shown(error)}, is_spent=True)

    def _answered(self, request: Request) -> Reply:
        if isinstance(request, Extract):
            extract = cast("_Extract", _named(self._setup.extract))
            extracted = extract(request.source, request.data, self._limits)
            return Text(extracted, self._bounds.is_spent())
        if isinstance(request, Open):
            members = cast("_Members", _named(self._setup.members))
            self._members = members(request.source, request.data, self._limits)
        member = next(self._members, None)
        if member is None:
            return Done(self._bounds.is_spent())
        return Member(file=member) if isinstance(member, SourceFile) else Member(report=member)

    def _over(self, detail: str, limit: int) -> Refused:
        return Refused("too_large", detail, {"limit": limit}, is_spent=True)


class _Bounds:
    """Time and memory of one process. The signals that end it keep their default action: no code of ours runs."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._left = limits.max_seconds
        for ending in (signal.SIGALRM, signal.SIGXCPU):
            signal.signal(ending, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the owner decides
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if _memory() is None:
            threading.Thread(target=self._watch_memory, daemon=True).start()

    def begin(self, *, is_new: bool) -> None:
        """Start the clocks, or let those of the document in work run on."""
        if is_new:
            self._left = self._limits.max_seconds
            used = math.ceil(time.process_time() + self._limits.max_seconds)
            resource.setrlimit(resource.RLIMIT_CPU, (used, resource.getrlimit(resource.RLIMIT_CPU)[1]))
            self._limit_memory()
        signal.setitimer(signal.ITIMER_REAL, max(self._left, 0.001))

    def pause(self) -> None:
        """Stop the clock while the owner is at work."""
        self._left, _ = signal.setitimer(signal.ITIMER_REAL, 0)

    def is_spent(self) -> bool:
        """True where so much is held that the next document would not have its full share."""
        memory = _memory()
        held = memory[1] if memory is not None else 0
        return self.was_tight() or held > _SPENT_SHARE * self._limits.max_memory_bytes

    def was_tight(self) -> bool:
        """True where most of the memory was in use at some time."""
        return _most_resident() > _TIGHT_SHARE * self._limits.max_memory_bytes

    def _limit_memory(self) -> None:
        """Bound what is mapped beyond what is resident now: libraries map more than they use."""
        memory = _memory()
        if memory is not None:
            mapped, resident = memory
            most = self._limits.max_memory_bytes + mapped - resident
            resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))

    def _watch_memory(self) -> None:
        """Where the kernel sets no bound (macOS), look again and again."""
        while _most_resident() < self._limits.max_memory_bytes:
            time.sleep(_WATCH_SECONDS)
        os._exit(OUT_OF_MEMORY)


def _memory() -> tuple[int, int] | None:
    """Return the bytes mapped and the bytes resident; None where the system does not say."""
    try:
        mapped, resident, *_ = _STATM.read_text(encoding="ascii").split()
    except OSError:
        return None
    page = resource.getpagesize()
    return int(mapped) * page, int(resident) * page


def _most_resident() -> int:
    """Return the most bytes that this process ever held; `ru_maxrss` may be its owner's, where that held more."""
    try:
        status = _STATUS.read_text(encoding="ascii")
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * MAXRSS_UNIT
    return int(status.partition("VmHWM:")[2].split(maxsplit=1)[0]) * 1024


def _end_with(parent: int) -> None:
    """Have the kernel end this process when its owner dies, where it can (Linux)."""
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:  # it died before we asked
        os._exit(0)


def _named(path: str) -> object:
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)  # a name that the owner gave, no document


def _shown(error: Exception) -> str:
    """Return the kind of an error and where it was raised, for a report: its words may be the document's."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = f" {Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""
    return f"{type(error).__name__}{place}"
