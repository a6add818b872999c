"""Chunks: ordered, disjoint spans of one document's text, and what is said about each."""

from __future__ import annotations

import hashlib
import unicodedata
from dataclasses import dataclass

TITLE_LIMIT = 40
"""Characters of a title (the article, Step 3)."""
SUMMARY_LIMIT = 160
"""Characters of a summary (the article, Step 3)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSizes:
    """The two sizes of the article's Step 2, in characters."""

    limit: int = 1500
    minimum: int = 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a chunk stands in its source document."""

    headings: tuple[str, ...] = ()
    """The headings above it, outermost first."""
    pages: tuple[str, str] | None = None
    """Labels of its first and last page, sheet or slide."""
    page_kind: str | None = None
    """`page`, `sheet` or `slide`."""

    def __str__(self) -> str:
        """The place in one line, the same in every language: `第3章 解約 › 第12条, p. 4-5`."""
        parts = [" › ".join(self.headings)] if self.headings else []
        if self.pages:
            first, last = self.pages
            span = first if first == last else f"{first}-{last}"
            parts.append(f"p. {span}" if self.page_kind == "page" else f"{self.page_kind} {span}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk:
    """One leaf-to-be: `text` is `source_text[start:end]`, never rewritten."""

    chunk_id: str
    """`chunk_N`, unique in the corpus and never used again for other text."""
    source: str
    start: int
    end: int
    text: str
    place: Place
    document_title: str | None = None
    """The title that the source document gives itself."""
    table_header: str | None = None
    """The header row of the table that this chunk continues."""
    is_choices_only: bool = False
    """True for a trailing chunk that is only a list of choices or headings: its summary must say so."""

    @property
    def doc_id(self) -> str:
        return f"doc_{self.chunk_id}"

    @property
    def fingerprint(self) -> str:
        """SHA-256 hex of all that a summary depends on: text, headings, table header. Not the file's name.

        Each part goes in behind its length, so that none can run into the next.
        """
        digest = hashlib.sha256(b"choices" if self.is_choices_only else b"")
        for part in (self.text, self.table_header or "", *self.place.headings):
            data = part.encode("utf-8", "surrogatepass")
            digest.update(len(data).to_bytes(8, "big") + data)
        return digest.hexdigest()

    @property
    def folded(self) -> str:
        """Text for telling twins: NFKC, white space folded away."""
        return "".join(unicodedata.normalize("NFKC", self.text).split())


@dataclass(frozen=True, slots=True, kw_only=True)
class ChunkSummary:
    """What Step 3 says of a chunk."""

    title: str
    summary: str
    is_stand_in: bool = False
    """True where the model's reply could not be used and the offline extract stands in."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarizedChunk:
    """Chunk, title, summary and body: the four of the article's Step 3."""

    chunk: Chunk
    summary: ChunkSummary
