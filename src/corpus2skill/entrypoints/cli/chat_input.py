"""What a person types into a chat, or a program pipes into it, entry by entry."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Literal, Protocol, TextIO

from corpus2skill.entrypoints.cli.output import Output
from corpus2skill.errors import InvalidQuestion


class ChatInput(Protocol):
    """Entries, one after another."""

    def read(self) -> str | None:
        """The next entry, None at the end.

        Raises:
            InvalidQuestion: it is no text; the one after it can be read.
        """
        ...


def chat_input(out: Output, words: Sequence[str]) -> ChatInput:
    """Entries from a person where one types; `words` are what Tab completes."""
    if sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty():
        return TypedInput(out, words)
    return PipedInput(sys.stdin)


class PipedInput:
    """One entry a line, in the stream's encoding or else in UTF-8."""

    def __init__(self, stream: TextIO | None) -> None:
        """The interpreter has no stream where it was begun with a closed one."""
        self._stream = stream

    def read(self) -> str | None:
        line = b"" if self._stream is None else self._stream.buffer.readline()
        return self._decoded(line) if line else None

    def _decoded(self, line: bytes) -> str:
        own = None if self._stream is None else self._stream.encoding
        for encoding in (own or "utf-8", "utf-8"):
            try:
                return line.decode(encoding).removeprefix("\ufeff").strip()
            except UnicodeDecodeError:
                continue
        raise InvalidQuestion("question_undecodable")


class TypedInput:
    """A prompt with editing and a memory of its own: nothing that was typed is written to a file."""

    is_edited: bool
    """True where keys are read one by one, by readline; else the terminal makes lines of them."""

    def __init__(self, out: Output, words: Sequence[str]) -> None:
        self._out = out
        self._words = words
        self.is_edited = out.out.isatty() and _has_readline()
        if self.is_edited:
            self._set_up()

    def remember(self, entries: Iterable[str]) -> None:
        """Let the arrow keys find `entries`, oldest first, as if they had been typed here."""
        if self.is_edited:
            import readline

            for entry in entries:
                readline.add_history(entry)

    def read(self) -> str | None:
        """Ctrl-C clears the line; twice with nothing between, or Ctrl-D, ends the chat."""
        is_warned = False
        while True:
            try:
                return self._line().strip()
            except EOFError:
                self._out.note("")
                return None
            except KeyboardInterrupt:
                self._out.note("")
                if is_warned:
                    return None
                is_warned = True
                self._out.note(self._out.say("chat.once_more"))
            except UnicodeDecodeError as error:
                raise InvalidQuestion("question_undecodable") from error

    def _line(self) -> str:
        if self.is_edited:
            return input(self._prompt())
        self._out.ask(self._out.say("chat.prompt"))
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line

    def _prompt(self) -> str:
        """In colour where that is wanted; `\\001` and `\\002` stand around what takes up no columns."""
        prompt = self._out.say("chat.prompt")
        is_plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
        return prompt if is_plain else f"\001\x1b[1;36m\002{prompt}\001\x1b[0m\002"

    def _set_up(self) -> None:
        import readline

        readline.set_completer(self._completion)
        readline.set_completer_delims("\n")
        readline.parse_and_bind("tab: complete")
        readline.parse_and_bind("set enable-bracketed-paste on")

    def _completion(self, begun: str, number: int) -> str | None:
        found = [word for word in self._words if begun and word.startswith(begun)]
        return found[number] if number < len(found) else None


@contextmanager
def unechoed() -> Generator[None]:
    """Keep what is typed off the screen while it is drawn on; the next prompt gets it."""
    with _without("ECHO"):
        yield


@contextmanager
def unassembled() -> Generator[None]:
    """Let a terminal hand over keys, not lines: a Ctrl-D between two prompts would be lost."""
    with _without("ICANON"):
        yield


@contextmanager
def _without(mode: Literal["ECHO", "ICANON"]) -> Generator[None]:
    stdin = sys.stdin
    if sys.platform == "win32" or stdin is None or stdin.closed or not stdin.isatty():
        yield
        return
    import termios

    flag = termios.ECHO if mode == "ECHO" else termios.ICANON
    before = termios.tcgetattr(stdin)
    with contextlib.suppress(termios.error):
        termios.tcsetattr(stdin, termios.TCSANOW, [*before[:3], before[3] & ~flag, *before[4:]])
    try:
        yield
    finally:
        with contextlib.suppress(termios.error):
            termios.tcsetattr(stdin, termios.TCSANOW, before)


def _has_readline() -> bool:
    """False on Windows and in some builds."""
    return importlib.util.find_spec("readline") is not None
