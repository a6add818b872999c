"""The yes before the first paid call, and before many documents go."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from corpus2skill.domain.money import EstimatedSpending
from corpus2skill.entrypoints.cli.compile_progress import CompileProgress
from corpus2skill.entrypoints.cli.money import estimate_lines
from corpus2skill.entrypoints.cli.output import Output
from corpus2skill.errors import ConfirmationNeeded

if TYPE_CHECKING:
    from corpus2skill.application.remove_documents import Loss

_YES = frozenset({"y", "yes", "ｙ", "はい"})


class Consent:
    """Shows a person what it comes to and asks; false where nobody can answer.

    Raises:
        ConfirmationNeeded: the answer was no.
    """

    def __init__(self, out: Output, progress: CompileProgress) -> None:
        self._out = out
        self._progress = progress

    def __call__(self, estimate: Sequence[EstimatedSpending]) -> bool:
        shown = estimate_lines(self._out, estimate, self._out.note_room)
        return self._is_agreed(
            shown, self._out.say("cli.confirm_payment"), ConfirmationNeeded("payment_declined")
        )

    def to_loss(self, loss: Loss) -> bool:
        """The same for documents that are to go."""
        question = self._out.say("cli.confirm_removal", gone=loss.gone, had=loss.had, first=loss.first)
        return self._is_agreed((), question, ConfirmationNeeded("removal_declined"))

    def _is_agreed(self, shown: Iterable[str], question: str, declined: ConfirmationNeeded) -> bool:
        if not (self._out.is_watched and _is_typed_in()):
            return False
        with self._progress.paused():
            for line in shown:
                self._out.note(line)
            self._out.ask(question)
            if _answer() not in _YES:
                raise declined
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
