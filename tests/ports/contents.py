"""Small contents of versions, for the suites of stores."""

from __future__ import annotations

from corpus2skill.domain.chunk import Chunk, ChunkSizes, ChunkSummary, Place, SummarizedChunk
from corpus2skill.domain.corpus import ExtractedText, Heading, Notice, SourceReport, SourceText
from corpus2skill.domain.tree import Group, Tree, TreeLimits
from corpus2skill.domain.version import Engines, VersionContent
from corpus2skill.ports.store import VersionStamp

CORPUS = "terms"
BODIES = (
    "第12条（解約）\n年額プランの解約は、契約期間の末日に効力を生じます。",
    "月額プランは、申請した月の末日で終了します。",
)


def content(
    bodies: tuple[str, ...] = BODIES,
    *,
    corpus: str = CORPUS,
    source: str = "規約/利用規約.docx",
    is_stand_in: bool = False,
) -> VersionContent:
    """One source of these paragraphs, a chunk each, in one group."""
    text = "\n\n".join(bodies)
    chunks = tuple(_chunks(bodies, source, is_stand_in=is_stand_in))
    notice = Notice(code="pages_without_text", values=(("pages", "3, 5"),))
    report = SourceReport(
        source=source,
        verdict="accepted",
        sha256="0" * 64,
        characters=len(text),
        chunks=len(chunks),
        notices=(notice,),
        extractor="docx-1",
    )
    refused = SourceReport(source="空.txt", verdict="empty", sha256="1" * 64)
    group = Group(
        slug="cancellation",
        title="解約手続き",
        summary="プラン別の解約方法。",
        member_ids=tuple(chunk.chunk.chunk_id for chunk in chunks),
    )
    return VersionContent(
        corpus=corpus,
        language="ja",
        sizes=ChunkSizes(),
        limits=TreeLimits(),
        engines=Engines(summarizer="offline-1", grouper="offline-1"),
        tree=Tree(title="利用規約", summary="解約について。", groups=(group,)),
        chunks=chunks,
        twins=(("chunk_1", "chunk_2"),) if len(chunks) > 1 else (),
        texts=(
            SourceText(
                source=source,
                sha256="0" * 64,
                extractor="docx-1",
                extracted=ExtractedText(
                    text=text, title="利用規約", headings=(Heading(start=0, end=4, level=1, title="第12条"),)
                ),
            ),
        ),
        reports=(report, refused),
        next_chunk_number=len(chunks) + 1,
    )


def _chunks(bodies: tuple[str, ...], source: str, *, is_stand_in: bool) -> list[SummarizedChunk]:
    chunks: list[SummarizedChunk] = []
    start = 0
    for number, body in enumerate(bodies, 1):
        chunk = Chunk(
            chunk_id=f"chunk_{number}",
            source=source,
            start=start,
            end=start + len(body),
            text=body,
            place=Place(headings=("第3章 解約", "第12条"), pages=("4", "5"), page_kind="page"),
            document_title="利用規約",
            table_header="| プラン | 料金 |",
            is_choices_only=number == 1,
        )
        summary = ChunkSummary(title=f"見出し{number}", summary=f"要約{number}。", is_stand_in=is_stand_in)
        chunks.append(SummarizedChunk(chunk=chunk, summary=summary))
        start += len(body) + 2
    return chunks


def stamp(version: int, predecessor: int | None = None) -> VersionStamp:
    return VersionStamp(
        version=version,
        predecessor=predecessor,
        created_at="2026-11-30T00:00:00Z",
        product="0.1.0",
        title="利用規約ツリー",
    )


def node_files(written: VersionContent) -> list[tuple[str, bytes]]:
    """A file for each node, with its path for text; and an index beside the tree."""
    above = f"tree/{written.corpus}/"
    summaries = [(above + path, f"節 {path}\n".encode()) for path, _ in written.tree.paths()]
    leaves = [(above + path, f"葉 {name}\n".encode()) for name, path in written.tree.leaf_paths().items()]
    return [*summaries, *leaves, ("lexical/index.bin", b"\x00\x01")]
