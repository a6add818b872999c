"""Readers that do to their process what a hostile document does; run in real processes, by name."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from hashlib import sha256

from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.domain.corpus import ExtractedText, SourceFile
from corpus2skill.errors import SourceRefused


def read(source: str, data: bytes, limits: Limits) -> ExtractedText:
    """Do what the document says; read any other as text."""
    words = data.decode("utf-8")
    if words == "flood":
        return ExtractedText(text="多" * (limits.max_output_bytes // 3 + 1))
    if words == "pid":
        return ExtractedText(text=str(os.getpid()))
    _DEEDS.get(words, lambda: None)()
    return ExtractedText(text=words)


def members(source: str, data: bytes, limits: Limits) -> Iterator[SourceFile]:
    """Yield one document a line; what a line says is done before it comes."""
    for number, line in enumerate(data.splitlines()):
        read(source, line, limits)
        yield SourceFile(source=f"{source}/{number}", data=line, sha256=sha256(line).hexdigest())


def _hang() -> None:
    signal.pause()


def _hang_without_end() -> None:
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    signal.pause()


def _spin() -> None:
    while True:
        pass


def _eat() -> None:
    hoard = [b""]
    while True:
        hoard.append(bytes(10_000_000))


def _crash() -> None:
    ctypes.string_at(0)


def _leave() -> None:
    os._exit(3)


def _babble() -> None:
    """Write without end into every pipe there is."""
    while True:
        for number in range(3, 64):
            with suppress(OSError):
                os.write(number, b"\xff" * 65_536)


def _print() -> None:
    os.write(1, "本文に混ざる出力".encode() * 100)


def _fail() -> None:
    raise KeyError


def _refuse() -> None:
    raise SourceRefused("too_large", "pages", pages=6_000, limit=5_000)


_DEEDS: Mapping[str, Callable[[], None]] = {
    "hang": _hang,
    "hang without end": _hang_without_end,
    "spin": _spin,
    "eat": _eat,
    "crash": _crash,
    "leave": _leave,
    "babble": _babble,
    "print": _print,
    "fail": _fail,
    "refuse": _refuse,
}
