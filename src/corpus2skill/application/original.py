"""Open a source of an answer: the passage in its place in the original document."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from corpus2skill.application.wiring import Workspace, original_file
from corpus2skill.domain.corpus import SourceText
from corpus2skill.domain.run import Source
from corpus2skill.domain.version import ChunkRow
from corpus2skill.errors import SourceNotFound

FileState = Literal["same", "changed", "holds", "gone"]
"""Whether the original is what the version was compiled from; `holds`: it is an archive or a mail with the
document in it; `gone`: it is not where it was compiled from any more."""

_AROUND = 400
"""Characters of the text before a passage and behind it, at most."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A leaf's text as the version's text of its document has it, with what stands around it."""

    source: str
    title: str | None
    """The document's own."""
    row: ChunkRow
    before: str
    text: str
    after: str
    is_first: bool
    """True where nothing of the document stands before `before`; so the next, behind `after`."""
    is_last: bool
    file: Path | None
    """The original on this machine."""
    file_state: FileState


def open_passage(
    workspace: Workspace,
    corpus: str,
    version: int,
    source: Source,
    *,
    around: int = _AROUND,
    looks_for_file: bool = True,
) -> Passage:
    """Open `source` in the version whose run read it, whichever is active now.

    `around`: characters of the text before it and behind it, at most.

    Raises:
        VersionNotFound: the version was removed.
        SourceNotFound: its texts have no such passage. Damaged.
    """
    row = workspace.versions.chunk_row(corpus, version, source.doc_id.removeprefix("doc_"))
    kept = None if row is None else workspace.versions.source_text(corpus, version, row.source)
    if row is None or kept is None:
        raise SourceNotFound("passage_not_found", source=source.source, corpus=corpus, version=version)
    text = kept.extracted.text
    begin, stop = _start_before(text, row.start, around), _end_after(text, row.end, around)
    file, file_state = _file(workspace, corpus, kept) if looks_for_file else (None, "gone")
    return Passage(
        source=row.source,
        title=kept.extracted.title,
        row=row,
        before=text[begin : row.start].strip("\n"),
        text=text[row.start : row.end],
        after=text[row.end : stop].strip("\n"),
        is_first=not text[:begin].strip(),
        is_last=not text[stop:].strip(),
        file=file,
        file_state=file_state,
    )


def _start_before(text: str, start: int, around: int) -> int:
    """Where to begin: at a line, not too far before `start`."""
    least = start - around
    return 0 if least <= 0 else _next_line(text, least, start)


def _end_after(text: str, end: int, around: int) -> int:
    most = end + around
    if most >= len(text):
        return len(text)
    line_end = text.rfind("\n", end + 1, most)
    return most if line_end <= end else line_end


def _next_line(text: str, least: int, start: int) -> int:
    line_end = text.find("\n", least, max(start - 1, least))
    return least if line_end < 0 else line_end + 1


def _file(workspace: Workspace, corpus: str, kept: SourceText) -> tuple[Path | None, FileState]:
    paths = tuple(map(Path, workspace.versions.config(corpus).paths))
    found = original_file(workspace, paths, kept.source) if paths else None
    if found is None:
        return None, "gone"
    name, file = found
    if name != kept.source:
        return file, "holds"
    return file, "same" if _digest(file) == kept.sha256 else "changed"


def _digest(file: Path) -> str | None:
    try:
        with file.open("rb") as opened:
            return hashlib.file_digest(opened, "sha256").hexdigest()
    except OSError:
        return None
