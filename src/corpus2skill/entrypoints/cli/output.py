"""The two streams: the answer goes to standard output, everything else to standard error."""

from __future__ import annotations

import codecs
import io
import json
import os
import unicodedata
from collections.abc import Sequence
from typing import TextIO

from corpus2skill.application.json_form import to_json
from corpus2skill.messages import message

_HANDLER = "corpus2skill.nearest"
_NEAREST = {
    "—": "-",
    "–": "-",
    "−": "-",
    "›": ">",
    "…": "...",
    "•": "*",
    "«": "<<",
    "»": ">>",
    "©": "(C)",
    "®": "(R)",
    "\u00a0": " ",
    "\u301c": "\uff5e",
    "\u2016": "\u2225",
}
"""What stands in for a character that the stream's encoding lacks; CP932 lacks all of these."""


_VISIBLE = {
    **{code: 0x2400 + code for code in range(0x20) if chr(code) not in "\t\n"},
    0x7F: 0x2421,
    **dict.fromkeys(range(0x80, 0xA0), 0xFFFD),
}
"""Control characters as their pictures: a stranger's question may not steer the reader's terminal."""


class OutputLost(Exception):
    """Standard output takes no more; the cause says why. A `BrokenPipeError`: its reader went away."""


class Output:
    """Writes for a person in one language or, with `is_json`, one JSON document for a program."""

    def __init__(self, language: str, *, is_json: bool, out: TextIO, err: TextIO) -> None:
        self.language = language
        self.is_json = is_json
        self.out, self.err = out, err
        for stream in (out, err):
            _make_tolerant(stream)

    def say(self, key: str, /, **values: object) -> str:
        """The sentence of `key` in the reader's language."""
        return message(self.language, key, **values)

    def answer(self, text: str = "") -> None:
        """Write one line or paragraph of the answer.

        Raises:
            OutputLost: it cannot be written.
        """
        self.raw(visible(text) + "\n")

    def document(self, value: object) -> None:
        """Write the answer as one JSON document, in ASCII where the stream could not spell it otherwise."""
        plain = to_json(value)
        text = json.dumps(plain, ensure_ascii=False, indent=2)
        if not _can_spell(self.out, text):
            text = json.dumps(plain, ensure_ascii=True, indent=2)
        self.raw(text + "\n")

    def raw(self, text: str) -> None:
        """Write `text` to standard output as it is."""
        try:
            self.out.write(text)
            self.out.flush()
        except OSError as error:
            raise OutputLost from error

    def mark_byte_order(self) -> None:
        """Begin standard output with a byte order mark where its encoding has one."""
        if _can_spell(self.out, "\ufeff"):
            self.raw("\ufeff")

    def note(self, text: str) -> None:
        """Tell a person something beside the answer. If nobody listens, nothing is lost."""
        try:
            self.err.write(visible(text) + "\n")
            self.err.flush()
        except (OSError, ValueError):
            return

    def ask(self, question: str) -> None:
        """Write a question to the person at the terminal and leave the cursor behind it."""
        self.err.write(question)
        self.err.flush()

    @property
    def is_watched(self) -> bool:
        """True where a person looks at standard error as it is written."""
        return self.err.isatty() and os.environ.get("TERM") != "dumb"

    @property
    def answer_room(self) -> int | None:
        """Columns of the terminal that the answer goes to; None where it goes elsewhere."""
        return _columns_of(self.out)

    @property
    def note_room(self) -> int | None:
        """Columns of the terminal that the rest goes to; None where it goes elsewhere."""
        return _columns_of(self.err)


def _columns_of(stream: TextIO) -> int | None:
    if not stream.isatty():
        return None
    wanted = os.environ.get("COLUMNS", "")
    if wanted.isdecimal() and int(wanted):
        return int(wanted)
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except OSError:
        return None


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Return `rows` as lines with their cells under each other, wide characters counted as two."""
    widths = [max(map(width_of, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell + " " * (width - width_of(cell)) for cell, width in zip(row, widths, strict=True)
        ).rstrip()
        for row in rows
    ]


def one_line(text: str, limit: int) -> str:
    """Fold `text` into one line of at most `limit` characters."""
    folded = " ".join(text.split())
    return folded if len(folded) <= limit else folded[: limit - 1] + "…"


def visible(text: str) -> str:
    """Return `text` with pictures in place of its control characters; tab and line end stay."""
    return text.translate(_VISIBLE)


def width_of(text: str) -> int:
    """Columns that `text` takes up in a terminal: wide characters two, marks on the one before none."""
    return sum(map(_width_of_character, text))


def _width_of_character(char: str) -> int:
    if unicodedata.category(char) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(char) in "FW" else 1


def _make_tolerant(stream: TextIO) -> None:
    """Let a character that the encoding lacks come out as its nearest, never as an exception."""
    codecs.register_error(_HANDLER, _nearest)
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors=_HANDLER)


def _nearest(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join(_spelled(char, error.encoding) for char in lacking), error.end


def _spelled(char: str, encoding: str) -> str:
    candidates = (_NEAREST.get(char, ""), unicodedata.normalize("NFKC", char))
    return next((text for text in candidates if text and _can_encode(text, encoding)), "?")


def _can_spell(stream: TextIO, text: str) -> bool:
    return _can_encode(text, stream.encoding or "utf-8")


def _can_encode(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
