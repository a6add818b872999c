"""Show what a file would become: its verdict and its chunks, without compiling."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import anyio

from corpus2skill.application.compile_documents import check_sizes
from corpus2skill.application.wiring import Workspace, extractor, source_reader
from corpus2skill.compiler.chunk import chunk_texts
from corpus2skill.domain.chunk import Chunk, ChunkSizes
from corpus2skill.domain.corpus import Notice, SourceText
from corpus2skill.errors import InvalidInput, SourceRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedFile:
    """A file as chunks with their places, or why it is none."""

    file: str
    refusal: SourceRefused | None
    notices: tuple[Notice, ...] = ()
    characters: int = 0
    chunks: tuple[Chunk, ...] = ()


async def extract_file(
    workspace: Workspace, file: Path, *, chunk_limit: int | None, chunk_minimum: int | None
) -> ExtractedFile:
    """Extract and chunk one file.

    Raises:
        InvalidInput: `file` is a folder or is not there, or the sizes cannot work together.
    """
    if await anyio.Path(file).is_dir():
        raise InvalidInput("file_wanted", path=str(file))
    reader = source_reader(workspace, [file])
    settings = workspace.settings
    try:
        source = reader.read(next(name for name in reader.find() if isinstance(name, str)))
        extracted = await extractor(settings).extract(source)
    except StopIteration:
        raise InvalidInput("file_wanted", path=str(file)) from None
    except SourceRefused as refusal:
        return ExtractedFile(file=str(file), refusal=refusal)
    text = SourceText(source=source.source, sha256=source.sha256, extractor="", extracted=extracted)
    sizes = ChunkSizes(
        limit=settings.chunk_limit if chunk_limit is None else chunk_limit,
        minimum=settings.chunk_minimum if chunk_minimum is None else chunk_minimum,
    )
    check_sizes(sizes)
    chunks, _ = chunk_texts([text], sizes, (), 1)
    return ExtractedFile(
        file=str(file),
        refusal=None,
        notices=extracted.notices,
        characters=len(extracted.text),
        chunks=chunks,
    )
