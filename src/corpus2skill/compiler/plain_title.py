"""What no title may hold, whoever wrote it: pieces of file paths, and characters that nobody sees."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from corpus2skill.errors import BadReply

_PATH_PIECE = re.compile(
    r"(?<![^\s/\\「『(（\"'`])(?:\.{1,2}|~)[/\\]|[/\\]\.{1,2}(?![^\s/\\」』)）\"'`])|^\.{1,2}$"
)
"""`./`, `../`, `~/`, `/..`: places in a file system. A slash between words is none."""
_SHOWN = 40


def path_piece(title: str, source: str) -> str:
    """The first piece of a path in `title` that `source` does not have; "" where there is none."""
    plain = unicodedata.normalize("NFKC", title)
    known = unicodedata.normalize("NFKC", source).replace("\\", "")  # Markdown has its own use for them
    found = (match[0] for match in _PATH_PIECE.finditer(plain))
    return next((piece for piece in found if piece.replace("\\", "") not in known), "")


def has_strange_characters(text: str, source: str) -> bool:
    """True for control, invisible, private and replacement characters that the source does not have."""
    if text.isprintable() and "\ufffd" not in text:
        return False
    strange = {letter for letter in text if not letter.isprintable() or letter == "\ufffd"}
    return any(
        letter not in source and letter not in "\r\n" and unicodedata.category(letter) != "Zs"
        for letter in strange
    )


def title_faults(title: str, source: str) -> Iterator[BadReply]:
    """Yield why `title`, which was written about `source`, cannot be one."""
    if path_piece(title, source):
        yield BadReply("title_path", title=title[:_SHOWN])
    if has_strange_characters(title, source):
        yield BadReply("title_characters")
