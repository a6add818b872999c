"""Source documents and the text that came out of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Refusal = Literal[
    "empty",
    "undecodable",
    "garbled",
    "encrypted",
    "corrupt",
    "hostile",
    "too_large",
    "unsupported",
    "unreadable",
    "vanished",
]
"""Why a source document cannot become text.

`empty`: no text in it. `undecodable`: no encoding fits its bytes. `garbled`: characters are there but do
not make words. `encrypted`, `corrupt`, `hostile` (a bomb, an external entity), `too_large`,
`unsupported` (a format we do not read). `unreadable`: the file system refused. `vanished`: it was listed
and is gone.
"""

Skip = Literal["hidden", "link", "duplicate", "special", "archive", "excluded"]
"""Why a file was passed over without being a fault: hidden, a link out of the folder, equal in content to
another source, not a regular file, an archive (the documents in it are sources of their own), or taken out
of the corpus by its owner."""

Verdict = Literal["accepted", "kept", "removed", "renamed"] | Refusal | Skip
"""What became of one source. `kept`: it is refused now and its last good text stays. `removed`: it was in
the active version and is gone; `renamed`: its content is there under another name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading inside an extracted text. Offsets in characters, `text[start:end]` is the heading's line."""

    start: int
    end: int
    level: int
    """1 is the outermost."""
    title: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Region:
    """A stretch of text whose lines are never cut: table rows or code lines, one a line."""

    start: int
    end: int
    kind: Literal["table", "code"]
    header_end: int
    """Where the header row (with its rule line) ends; equal to `start` where there is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Where a page, sheet or slide begins."""

    start: int
    kind: Literal["page", "sheet", "slide"]
    label: str
    """What a reader would call it: `12`, or the sheet's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Something worth telling about an accepted source, e.g. pages without text.

    `code` is a key of `messages/` under `notice.`, `values` what that text needs.
    """

    code: str
    values: tuple[tuple[str, str | int | float], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedText:
    """The text of one source document and what is known of its shape.

    Paragraphs are parted by blank lines, lines by `\\n`; there is no other control character but tab.
    Headings, regions and pages are in text order.
    """

    text: str
    title: str | None = None
    """The document's own title, where it has one; never the file's name."""
    headings: tuple[Heading, ...] = ()
    regions: tuple[Region, ...] = ()
    pages: tuple[Page, ...] = ()
    notices: tuple[Notice, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceFile:
    """One source document as handed in."""

    source: str
    """Its name in the corpus: the path below the compiled folder, `/` between parts, NFC. A document within an
    archive or a mail is named below it: `<source>/<member>`."""
    data: bytes
    sha256: str


def source_order(source: str) -> tuple[tuple[bool, int, str], ...]:
    """Key that puts sources where a person looks for them: `第2章` before `第10章`."""
    runs = re.findall(r"[0-9]+|[^0-9]+", source)
    return tuple((run.isdigit(), int(run) if run.isdigit() else 0, run) for run in runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceReport:
    """What became of one source: the line that people read after a compile."""

    source: str
    verdict: Verdict
    sha256: str | None = None
    detail: str | None = None
    """The more exact message key under `refused.<verdict>.`, if any."""
    values: tuple[tuple[str, str | int | float], ...] = ()
    """What the message needs: sizes, limits, the name of the equal file."""
    characters: int = 0
    chunks: int = 0
    notices: tuple[Notice, ...] = ()
    extractor: str = ""
    """Name and version of what read it; a text read by the same one is not read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceText:
    """A source of a version together with its text."""

    source: str
    sha256: str
    extractor: str
    extracted: ExtractedText
    refusal: SourceReport | None = None
    """Set when today's file was refused and this is its last good text."""
