"""One shape for all text: lines end in `\\n`, no control characters, no white space at line ends."""

from __future__ import annotations

import re
import unicodedata

_LINE_ENDS = re.compile("\r*\n|\r|\v|\x1c|\x1d|\x1e|\x85|\u2028")
_PARAGRAPH_ENDS = re.compile("\f|\u2029")
_UNWANTED = re.compile("[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\ufeff\ufffe\uffff]")
_ANSI = re.compile("\x1b\\[[0-9;]*[A-Za-z]")
_SPACES = re.compile(r"\s+")
_NOT_IN_ONE_LINE = re.compile("[^\\S ]|  |^ | $|[\x00-\x1f\x7f-\x9f\xad\ufeff\ufffe\uffff]")


def normalised(text: str) -> str:
    """Return `text` in the one shape; what a reader sees is not changed, nor the spaces a line begins with."""
    text = _PARAGRAPH_ENDS.sub("\n\n", text)
    text = _LINE_ENDS.sub("\n", text)
    text = _UNWANTED.sub("", _ANSI.sub("", text))
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def in_one_line(text: str) -> str:
    """Return `text` with every run of white space as one space."""
    if not _NOT_IN_ONE_LINE.search(text):
        return text  # nearly every cell of a large table
    if text.isprintable() and "  " not in text:
        return text.strip()
    return _SPACES.sub(" ", normalised(text)).strip()


def is_blank(text: str) -> bool:
    """True where there is nothing to read: only white space, U+3000 and invisible format characters."""
    return not any(_is_visible(character) for character in text)


def _is_visible(character: str) -> bool:
    return not character.isspace() and unicodedata.category(character) not in {"Cc", "Cf"}
