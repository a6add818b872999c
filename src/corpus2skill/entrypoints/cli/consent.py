"""The yes before the first paid call."""

from __future__ import annotations

import signal
import sys
from collections.abc import Sequence

from corpus2skill.domain.money import EstimatedSpending
from corpus2skill.entrypoints.cli.compile_progress import CompileProgress
from corpus2skill.entrypoints.cli.money import estimate_lines
from corpus2skill.entrypoints.cli.output import Output
from corpus2skill.errors import ConfirmationNeeded

_YES = frozenset({"y", "yes", "ｙ", "はい"})


class Consent:
    """Shows the estimate to a person and asks; false where nobody can answer.

    Raises:
        ConfirmationNeeded: the answer was no.
    """

    def __init__(self, out: Output, progress: CompileProgress) -> None:
        self._out = out
        self._progress = progress

    def __call__(self, estimate: Sequence[EstimatedSpending]) -> bool:
        if not (self._out.is_watched and _is_typed_in()):
            return False
        with self._progress.paused():
            for line in estimate_lines(self._out, estimate):
                self._out.note(line)
            self._out.ask(self._out.say("cli.confirm_payment"))
            if _answer() not in _YES:
                raise ConfirmationNeeded("payment_declined")
            return True


def _answer() -> str:
    """One typed line. Ctrl-C ends it at once: within an event loop it would only be noted for later."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return sys.stdin.readline().strip().lower()
    finally:
        signal.signal(signal.SIGINT, before)


def _is_typed_in() -> bool:
    """True where a person types into standard input, which a program may have closed."""
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()
