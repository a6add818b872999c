"""A written version, read back as the content it was written from."""

from __future__ import annotations

from collections.abc import Mapping

from corpus2skill.domain.chunk import Chunk, ChunkSummary, Place, SummarizedChunk
from corpus2skill.domain.corpus import SourceText
from corpus2skill.domain.ids import ROOT_PATH, SUMMARY_FILE
from corpus2skill.domain.node_file import SummaryNodeFile, parse_summary_node
from corpus2skill.domain.tree import Child, Group, Tree
from corpus2skill.domain.version import ChunkRow, VersionContent
from corpus2skill.errors import Damaged
from corpus2skill.ports.store import VersionStore


def load_version(store: VersionStore, corpus: str, version: int) -> VersionContent:
    """Return all that a version holds.

    Raises:
        VersionNotFound: there is no such version.
        Damaged: a file is missing or not as it was written.
    """
    try:
        return _content(store, corpus, version)
    except KeyError as error:  # the files do not fit together: a line, a text or a leaf is not there
        raise Damaged("version_inconsistent", corpus=corpus, version=version, name=error.args[0]) from error


def _content(store: VersionStore, corpus: str, version: int) -> VersionContent:
    """Raises: KeyError, naming what one file tells of and another lacks."""
    manifest = store.manifest(corpus, version)
    texts = tuple(store.source_texts(corpus, version))
    bodies = {text.source: text for text in texts}
    rows = tuple(store.chunk_rows(corpus, version))
    tree = _TreeFiles(store, corpus, version).tree()
    if strangers := set(tree.chunk_ids()) ^ {row.chunk_id for row in rows}:
        raise KeyError(min(strangers))
    return VersionContent(
        corpus=corpus,
        language=manifest.language,
        sizes=manifest.sizes,
        limits=manifest.limits,
        engines=manifest.engines,
        tree=tree,
        chunks=tuple(_chunk(row, bodies) for row in rows),
        twins=_families(rows),
        texts=texts,
        reports=store.source_reports(corpus, version),
        next_chunk_number=manifest.next_chunk_number,
        repairs=manifest.repairs,
    )


class _TreeFiles:
    """The summary nodes of one version, read back into groups."""

    def __init__(self, store: VersionStore, corpus: str, version: int) -> None:
        self.store, self.corpus, self.version = store, corpus, version

    def tree(self) -> Tree:
        root = self.read(ROOT_PATH)
        return Tree(title=root.title, summary=root.summary, groups=self.groups(root, ""))

    def groups(self, node: SummaryNodeFile, folder: str) -> tuple[Group, ...]:
        return tuple(
            self.group(child, f"{folder}{child.name}/")
            for child in node.children
            if child.node_type == "skill_summary"
        )

    def group(self, child: Child, folder: str) -> Group:
        node = self.read(folder + SUMMARY_FILE)
        members = (child.name for child in node.children if child.node_type == "document")
        return Group(
            slug=child.name,
            title=node.title,
            summary=node.summary,
            groups=self.groups(node, folder),
            member_ids=tuple(name.removeprefix("doc_") for name in members),
        )

    def read(self, path: str) -> SummaryNodeFile:
        text = self.store.node_text(self.corpus, self.version, path)
        if text is None:
            raise Damaged("file_missing", corpus=self.corpus, version=self.version, file=path)
        try:
            return parse_summary_node(text)
        except ValueError as error:
            raise Damaged("file_damaged", corpus=self.corpus, version=self.version, file=path) from error


def _chunk(row: ChunkRow, texts: Mapping[str, SourceText]) -> SummarizedChunk:
    return SummarizedChunk(
        chunk=Chunk(
            chunk_id=row.chunk_id,
            source=row.source,
            start=row.start,
            end=row.end,
            text=texts[row.source].extracted.text[row.start : row.end],
            place=Place(headings=row.headings, pages=row.pages, page_kind=row.page_kind),
            document_title=row.document_title,
            table_header=row.table_header,
            is_choices_only=row.is_choices_only,
        ),
        summary=ChunkSummary(title=row.title, summary=row.summary, is_stand_in=row.is_stand_in),
    )


def _families(rows: tuple[ChunkRow, ...]) -> tuple[tuple[str, ...], ...]:
    """Sets of twins, each once, in chunk order."""
    families: dict[frozenset[str], None] = {
        frozenset((row.chunk_id, *row.twins)): None for row in rows if row.twins
    }
    order = {row.chunk_id: position for position, row in enumerate(rows)}
    return tuple(tuple(sorted(family, key=order.__getitem__)) for family in families)
