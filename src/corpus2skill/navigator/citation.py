"""From the doc ids that an answer names to numbered sources.

A model names a leaf as `[doc_chunk_7]`. What it was asked for and what it writes differ: full-width
brackets, several ids in one pair, a link, a path or a bare id are read as the same thing, so that no doc id
ever reaches the asker.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass

from corpus2skill.domain.run import Source

_ID = r"`?(?:[a-z0-9-]{1,64}/){0,8}doc_chunk_\d+(?:\.md)?`?"
_LABEL = r"(?:(?:根拠|出典|参照|sources?|see)\s*[:：]?\s*)?"
_MARKER = re.compile(
    rf"[\[［【(（]\s*{_LABEL}{_ID}(?:\s*[,、，;；/・&]?\s*{_ID})*\s*[\]］】)）](?:\([^()\s]*\))?|{_ID}",
    re.IGNORECASE,
)
_DOC_ID = re.compile(r"doc_chunk_\d+", re.IGNORECASE)
_LINK_TARGET = re.compile(r"\]\([^()\s]*\)$")
_ORPHANED_SPACE = re.compile(r"[ \t\u3000]+(?=[。、，．,.!?！？)）」』\]]|$)", re.MULTILINE)


@dataclass(frozen=True, slots=True, kw_only=True)
class CitedAnswer:
    """An answer with its markers resolved."""

    text: str
    citations: tuple[Source, ...]
    """In the order of their first mention, which is their number."""
    struck: int
    """Leaves that were named and not read."""


def resolve_citations(answer: str, evidence: Mapping[str, Source], *, is_numbered: bool) -> CitedAnswer:
    """Replace the doc ids in `answer` by numbers of sources, or by nothing where it is not `is_numbered`.

    Only leaves in `evidence` (by doc id) are cited; others are struck out and counted.
    """
    numbers: dict[str, int] = {}
    struck: set[str] = set()

    def replace(marker: re.Match[str]) -> str:
        named = _named(marker[0])
        struck.update(doc_id for doc_id in named if doc_id not in evidence)
        cited = [doc_id for doc_id in named if doc_id in evidence]
        marks = [f"[{numbers.setdefault(doc_id, len(numbers) + 1)}]" for doc_id in cited]
        return "".join(marks) if is_numbered else ""

    text = _tidy(_without(_MARKER.sub(replace, answer)), answer)
    citations = tuple(evidence[doc_id] for doc_id in numbers)
    return CitedAnswer(text=text, citations=citations, struck=len(struck))


def without_markers(answer: str) -> str:
    """Return `answer` without any doc id."""
    return _tidy(_without(answer), answer)


def _without(text: str) -> str:
    """Take markers away until none is left: what stood around one may make up another."""
    while _MARKER.search(text):
        text = _MARKER.sub("", text)
    return text


def _named(marker: str) -> list[str]:
    text = _LINK_TARGET.sub("]", marker)
    ids = (unicodedata.normalize("NFKC", found).lower() for found in _DOC_ID.findall(text))
    return list(dict.fromkeys(ids))


def _tidy(text: str, before: str) -> str:
    """Take away the spaces that stood before a marker now gone."""
    return text.strip() if text == before else _ORPHANED_SPACE.sub("", text).strip()
