"""Where a sentence ends, told from its own text and the next few characters.

Both languages are read alike, for answers mix them. A mark ends a sentence only outside quotes and brackets;
a full stop only where it is none of a number, an abbreviation or an address.
"""

from __future__ import annotations

import re

OPENING = "「｢『（(［[【〈《〔“"
CLOSING = "」｣』）)］]】〉》〕”"
_STRAIGHT = '"'
_FULL_WIDTH_MARKS = "。！？｡"
_MARKS = _FULL_WIDTH_MARKS + "．.!?"
_JAPANESE = re.compile(r"[\u3005-\u30ff\u3400-\u9fff\uf900-\ufaff\uff66-\uff9f]")
_LIST_NUMBER = re.compile(r"\s*\d{1,3}")
_LAST_WORD = re.compile(r"[A-Za-z][A-Za-z.]*$")
_BEFORE_A_NUMBER = re.compile(
    r"nos?|arts?|secs?|figs?|vols?|ch|paras?|pp?|cl|tel|ext|approx|ca"
    r"|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec",
    re.IGNORECASE,
)
"""Abbreviations when a number follows; some are whole words else."""
_BEFORE_A_NAME = re.compile(r"mrs?|ms|dr|prof|st|e\.g|i\.e|cf|vs|viz|al", re.IGNORECASE)
"""Abbreviations whatever follows."""


class NeedsMore(Exception):
    """It depends on text that has not come yet."""


class Nesting:
    """How deep in quotes and brackets the text is, character by character."""

    def __init__(self) -> None:
        self.depth = 0
        self._is_quoted = False

    def step(self, text: str, position: int) -> None:
        """Take the character at `position` into account.

        Raises:
            NeedsMore: it is a straight quote whose sense the next character tells.
        """
        char = text[position]
        if char in OPENING:
            self.depth += 1
        elif char in CLOSING:
            self.depth = max(0, self.depth - 1)
        elif char == _STRAIGHT:
            self._step_straight(text, position)

    def _step_straight(self, text: str, position: int) -> None:
        if self._is_quoted:
            self._is_quoted, self.depth = False, max(0, self.depth - 1)
            return
        if position + 1 == len(text):
            raise NeedsMore
        # One that closes what began in an earlier piece, or means inches, opens nothing.
        after = text[position + 1]
        if not after.isspace() and after not in CLOSING + _MARKS + "、,":
            self._is_quoted, self.depth = True, self.depth + 1


def sentence_end(text: str, limit: int, *, is_whole: bool) -> int | None:
    """Return where the first sentence or line of `text` ends, None where that is not within `limit` characters.

    Marks and closing brackets that follow belong to it. With `is_whole` nothing comes after `text`.

    Raises:
        NeedsMore: what has come so far does not tell. Never where `is_whole`.
    """
    if is_whole:
        text += "\n"
    nesting = Nesting()
    for position in range(min(len(text), limit)):
        nesting.step(text, position)
        if nesting.depth:
            continue
        end = _end_at(text, position)
        if end is not None:
            return min(end, len(text) - is_whole) if end <= limit else None
    if len(text) <= limit and not is_whole:
        raise NeedsMore
    return None


def _end_at(text: str, position: int) -> int | None:
    char = text[position]
    if char == "\n":
        return position + 1
    if char in CLOSING or char == _STRAIGHT:
        return _end_after_quote(text, position)
    if char not in _MARKS:
        return None
    end = _after_all(text, position + 1, _MARKS)
    is_strong = any(mark in _FULL_WIDTH_MARKS for mark in text[position:end])
    end = _after_all(text, end, CLOSING + _STRAIGHT)
    if is_strong:
        return end
    return end if _ends_sentence(text, position, end) else None


def _end_after_quote(text: str, position: int) -> int | None:
    """「はい。」「いいえ。」 is two sentences; 「はい。」と答える is one."""
    if position == 0 or text[position - 1] not in _MARKS:
        return None
    end = _after_all(text, position + 1, CLOSING)
    return end if text[end] in OPENING or _begins_anew(text, end) else None


def _ends_sentence(text: str, position: int, end: int) -> bool:
    """Whether the marks from `position` to `end`, half-width ones, end a sentence and not only a word."""
    before, after = text[:position], text[end]
    if _JAPANESE.match(before[-1:]):
        return not after.isalnum() or _JAPANESE.match(after) is not None
    if text[position] in "!?":
        return _JAPANESE.match(after) is not None or _begins_anew(text, end)
    return _begins_anew(text, end) and not _is_abbreviated(before, _next_letter(text, end))


def _begins_anew(text: str, end: int) -> bool:
    """Whether white space follows, and after it something that is no small letter."""
    return text[end].isspace() and not _next_letter(text, end).islower()


def _next_letter(text: str, end: int) -> str:
    """The first character after white space; empty where a line or the text ends before it."""
    for char in text[end:]:
        if char == "\n":
            return ""
        if not char.isspace():
            return char
    raise NeedsMore


def _is_abbreviated(before: str, following: str) -> bool:
    """Whether a full stop after `before` is one of an abbreviation, or of a number in a list."""
    if not following:
        return False
    if _LIST_NUMBER.fullmatch(before):
        return True
    found = _LAST_WORD.search(before)
    if found is None:
        return False
    word = found[0]
    if _BEFORE_A_NAME.fullmatch(word) or "." in word:
        return not (word.lower() in {"a.m", "p.m"} and following.isupper())
    if _BEFORE_A_NUMBER.fullmatch(word):
        return following.isdigit()
    return len(word) == 1 and word.isupper() and word != "I"


def _after_all(text: str, position: int, chars: str) -> int:
    """Return the first position from `position` on whose character is none of `chars`."""
    while position < len(text) and text[position] in chars:
        position += 1
    if position == len(text):
        raise NeedsMore
    return position
