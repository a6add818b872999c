"""`python -m corpus2skill.adapters.apart.child SOCKET`: does what comes through the socket until it is closed.

What comes is pickled functions with their arguments, from the process that began this one and nobody else.
"""

from __future__ import annotations

import os
import resource
import sys
import traceback
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.connection import Connection

_NICE = 5
"""In front of the worker, behind the door."""
_MUCH_MEMORY = 200_000
"""Kilobytes: a child that needed more ends after its answer, so that the next one begins small."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    work: Callable[..., object]
    args: tuple[object, ...]
    kwargs: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    value: object = None
    error: Exception | None = None
    is_last: bool = False
    """The child ends now."""


def main() -> None:
    os.nice(_NICE)
    connection = Connection(int(sys.argv[1]))
    while _serve(connection):
        pass


def _serve(connection: Connection) -> bool:
    """Do one thing; False where it was the last."""
    try:
        asked = connection.recv()
        assert isinstance(asked, Asked)
        answered = _done(asked)
        connection.send(answered)
    except (EOFError, ConnectionError):
        return False
    return not answered.is_last


def _done(asked: Asked) -> Answered:
    try:
        value = asked.work(*asked.args, **asked.kwargs)
    except Exception as error:  # noqa: BLE001 - a door: whoever asked decides what it means
        error.add_note(traceback.format_exc())
        return Answered(error=error, is_last=_is_full())
    return Answered(value=value, is_last=_is_full())


def _is_full() -> bool:
    most = _most_memory()
    return most > max(_MUCH_MEMORY, _BEFORE)


def _most_memory() -> float:
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / 1024 if sys.platform == "darwin" else most


_BEFORE = _most_memory()
"""A new program is counted what the process was that it began in."""


if __name__ == "__main__":
    from corpus2skill.adapters.apart.child import main as as_imported  # pickles name this module so

    as_imported()
