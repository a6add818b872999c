"""Step 5: the tree as folders and text files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from corpus2skill.domain.chunk import SummarizedChunk
from corpus2skill.domain.node_file import render_leaf, render_summary_node
from corpus2skill.domain.tree import Child, Group
from corpus2skill.domain.version import VersionContent
from corpus2skill.ports.lexical_index import IndexedLeaf, LexicalIndexWriter


def tree_files(content: VersionContent) -> Iterator[tuple[str, bytes]]:
    """Yield every node file as `(path below the version, content)`: summary nodes first, then leaves."""
    folder = f"tree/{content.corpus}/"
    leaves = {item.chunk.chunk_id: item for item in content.chunks}
    twins = _twin_names(content.twins)
    for path, group in content.tree.paths():
        yield folder + path, _summary_node(content, group, leaves, twins).encode()
    paths = content.tree.leaf_paths()
    for name, item in leaves.items():
        yield folder + paths[name], _leaf(content, item).encode()


def lexical_files(content: VersionContent, writer: LexicalIndexWriter) -> Iterator[tuple[str, bytes]]:
    """Yield the files of the lexical index as `(path below the version, content)`."""
    for name, data in writer.write(indexed_leaves(content)):
        yield f"lexical/{name}", data


def indexed_leaves(content: VersionContent) -> list[IndexedLeaf]:
    """The leaves as an index wants them, in chunk order."""
    paths = content.tree.leaf_paths()
    return [
        IndexedLeaf(
            path=paths[item.chunk.chunk_id],
            title=item.summary.title,
            headings=item.chunk.place.headings,
            source=item.chunk.source,
            text=item.chunk.text,
        )
        for item in content.chunks
    ]


def _summary_node(
    content: VersionContent,
    group: Group | None,
    leaves: Mapping[str, SummarizedChunk],
    twins: Mapping[str, tuple[str, ...]],
) -> str:
    node = content.tree if group is None else group
    members = group.member_ids if group is not None else ()
    children = (*map(_group_child, node.groups), *(_leaf_child(leaves[member]) for member in members))
    return render_summary_node(
        name=content.corpus if group is None else group.slug,
        title=node.title,
        summary=node.summary,
        children=children,
        twins={child.name: twins[child.name] for child in children if child.name in twins},
        language=content.language,
    )


def _group_child(group: Group) -> Child:
    return Child(name=group.slug, title=group.title, summary=group.summary, node_type="skill_summary")


def _leaf_child(item: SummarizedChunk) -> Child:
    return Child(
        name=item.chunk.doc_id,
        title=item.summary.title,
        summary=item.summary.summary,
        node_type="document",
    )


def _leaf(content: VersionContent, item: SummarizedChunk) -> str:
    chunk = item.chunk
    return render_leaf(
        title=item.summary.title,
        summary=item.summary.summary,
        source=chunk.source,
        place=str(chunk.place),
        body=chunk.text,
        table_header=chunk.table_header,
        language=content.language,
    )


def _twin_names(twins: tuple[tuple[str, ...], ...]) -> dict[str, tuple[str, ...]]:
    """Doc id to the doc ids of its twins."""
    return {
        f"doc_{name}": tuple(f"doc_{other}" for other in family if other != name)
        for family in twins
        for name in family
    }
