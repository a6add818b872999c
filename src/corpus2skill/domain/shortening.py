"""Cuts a text to a length in characters, at a place where a reader does not stumble."""

from __future__ import annotations

import re
import unicodedata

ELLIPSIS = "…"

_SENTENCE_END = re.compile(r"[。！？!?．](?:[」』）)\]\"'”’]*)|\.(?=\s|$)")
_WORD_END = re.compile(
    r"(?<=\S)(?=\s)|(?<=[、，,;；:：。）」』)\]])|(?<=[\u3041-\u309f])(?=[^\u3041-\u309f\s、。，．…）」』ー])"
)
"""Before a space, behind a comma or bracket, and where hiragana (a particle, an ending) gives way."""


def one_line(text: str) -> str:
    """Fold all white space and control characters of `text` into single spaces."""
    if not text.isprintable():
        text = "".join(letter if letter.isprintable() else " " for letter in text)
    return " ".join(text.split())


def shortened(text: str, limit: int) -> str:
    """Return `text` where it has at most `limit` characters, else its beginning with `…` behind it.

    The cut is at a sentence end in the last third, else at a word end in the last half, else at the limit.
    """
    if len(text) <= limit:
        return text
    room = text[: limit - len(ELLIPSIS)]
    sentence = max((match.end() for match in _SENTENCE_END.finditer(room)), default=0)
    if sentence * 3 >= limit * 2:
        return room[:sentence].rstrip()
    word = max((match.end() for match in _WORD_END.finditer(text, 0, len(room) + 1)), default=0)
    kept = room[:word] if word * 2 >= limit else _whole_letters(room, text)
    return kept.rstrip(" 、，,;；:：・") + ELLIPSIS


def _whole_letters(room: str, text: str) -> str:
    """Drop a letter whose marks would be cut off."""
    at = len(room)
    while at > 1 and unicodedata.combining(text[at]):
        at -= 1
    return room[:at]
