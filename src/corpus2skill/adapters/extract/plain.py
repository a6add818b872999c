"""Plain text: the paragraphs are the author's; lines that name themselves as headings are noted."""

from __future__ import annotations

import re

from corpus2skill.adapters.extract.heading_patterns import heading_rank, levels, loose_rank
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.text_builder import require_characters
from corpus2skill.adapters.extract.text_encoding import decoded
from corpus2skill.adapters.extract.text_shape import normalised
from corpus2skill.domain.corpus import ExtractedText, Heading

_LINE = re.compile(r"^.+$", re.MULTILINE)


def extract_plain(data: bytes, limits: Limits) -> ExtractedText:
    """Return the text of a .txt file, its characters unchanged.

    Raises:
        SourceRefused: `undecodable` or `too_large`.
    """
    text = normalised(decoded(data))
    require_characters(len(text), limits.max_characters)
    return ExtractedText(text=text, headings=_headings(text))


def _headings(text: str) -> tuple[Heading, ...]:
    found = [(match.start(), match.group()) for match in _LINE.finditer(text)]
    ranked = [(start, line, rank) for start, line in found if (rank := _rank(text, start, line)) is not None]
    level = levels([rank for *_, rank in ranked])
    return tuple(
        Heading(start=start, end=start + len(line), level=level[rank], title=" ".join(line.split()))
        for start, line, rank in ranked
    )


def _rank(text: str, start: int, line: str) -> int | None:
    """The line's rank where it stands at the head of a paragraph; a loose one must stand quite alone."""
    if start and text[start - 2 : start] != "\n\n":
        return None
    end = start + len(line)
    stands_alone = start > 0 and text[end : end + 2] == "\n\n"
    return loose_rank(line.strip()) if stands_alone else heading_rank(line.strip())
