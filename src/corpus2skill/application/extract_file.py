"""Show what a file would become: its verdict and its chunks, without compiling."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import anyio

from corpus2skill.application.compile_documents import check_sizes
from corpus2skill.application.wiring import Workspace, extractor, source_reader
from corpus2skill.compiler.chunk import chunk_texts
from corpus2skill.domain.chunk import Chunk, ChunkSizes
from corpus2skill.domain.corpus import Notice, SourceFile, SourceReport, SourceText, Verdict
from corpus2skill.errors import InvalidInput, SourceRefused
from corpus2skill.ports.extractor import Extractor


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedFile:
    """A file as chunks with their places, or why it is none."""

    file: str
    verdict: Verdict = "accepted"
    refusal: SourceRefused | None = None
    """Set where `verdict` is a refusing one."""
    notices: tuple[Notice, ...] = ()
    characters: int = 0
    chunks: tuple[Chunk, ...] = ()
    members: tuple[ExtractedFile, ...] = ()
    """The documents within it: an archive has them, and a mail with attachments. They have none of their own."""


async def extract_file(
    workspace: Workspace, file: Path, *, chunk_limit: int | None, chunk_minimum: int | None
) -> ExtractedFile:
    """Extract and chunk one file and the documents within it.

    Raises:
        InvalidInput: `file` is a folder or is not there, or the sizes cannot be used.
    """
    if await _is_folder(file):
        raise InvalidInput("file_wanted", path=str(file))
    reader = source_reader(workspace, [file])
    settings = workspace.settings
    sizes = ChunkSizes(
        limit=settings.chunk_limit if chunk_limit is None else chunk_limit,
        minimum=settings.chunk_minimum if chunk_minimum is None else chunk_minimum,
    )
    check_sizes(sizes)
    try:
        source = reader.read(next(name for name in reader.find() if isinstance(name, str)))
    except StopIteration:
        raise InvalidInput("file_wanted", path=str(file)) from None
    except SourceRefused as refusal:
        return _refused(str(file), refusal)
    return await _Desk(extractor(settings), sizes).opened(source, str(file))


async def _is_folder(file: Path) -> bool:
    """False for what may not even be looked at: reading it says why."""
    try:
        return await anyio.Path(file).is_dir()
    except OSError:
        return False


class _Desk:
    def __init__(self, extractor: Extractor, sizes: ChunkSizes) -> None:
        self._extractor, self._sizes = extractor, sizes

    async def opened(self, source: SourceFile, shown: str) -> ExtractedFile:
        """Return a file with its members; `shown` is what the reader calls it."""
        members: list[ExtractedFile] = []
        archive: ExtractedFile | None = None
        try:
            async for member in self._members(source):
                if member.file == source.source:
                    archive = member
                else:
                    members.append(member)
        except SourceRefused as refusal:
            return _refused(shown, refusal, tuple(members))
        if archive is not None:
            return ExtractedFile(file=shown, verdict=archive.verdict, members=tuple(members))
        return await self._read(source, shown, tuple(members))

    async def _members(self, source: SourceFile) -> AsyncIterator[ExtractedFile]:
        async for member in self._extractor.members(source):
            if isinstance(member, SourceReport):
                yield _reported(member)
            else:
                yield await self._read(member, member.source, ())

    async def _read(
        self, source: SourceFile, shown: str, members: tuple[ExtractedFile, ...]
    ) -> ExtractedFile:
        try:
            extracted = await self._extractor.extract(source)
        except SourceRefused as refusal:
            return _refused(shown, refusal, members)
        text = SourceText(source=source.source, sha256=source.sha256, extractor="", extracted=extracted)
        chunks, _ = chunk_texts([text], self._sizes, (), 1)
        return ExtractedFile(
            file=shown,
            notices=extracted.notices,
            characters=len(extracted.text),
            chunks=chunks,
            members=members,
        )


def _refused(shown: str, refusal: SourceRefused, members: tuple[ExtractedFile, ...] = ()) -> ExtractedFile:
    verdict: Verdict = refusal.verdict  # type: ignore[assignment]
    return ExtractedFile(file=shown, verdict=verdict, refusal=refusal, members=members)


def _reported(report: SourceReport) -> ExtractedFile:
    """A member that was not taken: refused, a link, or an archive whose own members follow it."""
    if report.verdict in {"archive", "link"}:
        return ExtractedFile(file=report.source, verdict=report.verdict)
    refusal = SourceRefused(report.verdict, report.detail, **dict(report.values))
    return _refused(report.source, refusal)
