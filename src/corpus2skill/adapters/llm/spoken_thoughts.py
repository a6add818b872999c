"""Models of local servers that think aloud: a `<think>` block at the head of their text is not part of it."""

from __future__ import annotations

_OPEN, _CLOSE = "<think>", "</think>"


class SpokenThoughts:
    """Takes a text in pieces and lets through what comes after the block, if there is one."""

    def __init__(self) -> None:
        self._kept = ""
        self._state = "beginning"

    def feed(self, piece: str) -> str:
        """Return what belongs to the text."""
        if self._state == "text":
            return piece
        if self._state == "gap":
            return self._behind(piece)
        self._kept += piece
        if self._state == "beginning":
            head = self._kept.lstrip()
            if _OPEN.startswith(head[: len(_OPEN)]) and len(head) < len(_OPEN):
                return ""
            if not head.startswith(_OPEN):
                return self._through(self._kept)
            self._state = "thought"
        _, close, text = self._kept.partition(_CLOSE)
        return self._behind(text) if close else ""

    def rest(self) -> str:
        """Return what was held back, at the end: nothing of a thought that never ended."""
        return self._through(self._kept) if self._state == "beginning" else ""

    def _behind(self, piece: str) -> str:
        """Let text through from its first character on: the blank lines between belong to the block."""
        text = piece.lstrip()
        self._state, self._kept = "text" if text else "gap", ""
        return text

    def _through(self, text: str) -> str:
        self._state, self._kept = "text", ""
        return text


def without_thoughts(text: str) -> str:
    """Return a whole text without the block."""
    thoughts = SpokenThoughts()
    return thoughts.feed(text) + thoughts.rest()
