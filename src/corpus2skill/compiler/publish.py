"""Step 6: verify what was written, then move the pointer once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from corpus2skill.domain.ids import ROOT_PATH, SUMMARY_FILE
from corpus2skill.domain.node_file import parse_leaf, parse_summary_node
from corpus2skill.domain.tree import Child
from corpus2skill.errors import CompileFailed
from corpus2skill.ports.store import Fault, VersionStore


def publish(
    store: VersionStore, corpus: str, version: int, *, activate: bool, before_switching: Callable[[], None]
) -> None:
    """Check the written version from its files alone and, if asked, make it the active one.

    `before_switching` is called once the version has been found whole, whether it is activated or not.

    Raises:
        CompileFailed: something is wrong with it; the active version stays.
    """
    fault = next(verify(store, corpus, version), None)
    if fault is not None:
        raise CompileFailed("not_publishable", fault=fault.code, file=fault.file, detail=fault.detail)
    before_switching()
    if activate:
        store.activate(corpus, version)


def first_damage(faults: Iterable[Fault]) -> Fault | None:
    """Return the first fault that does harm: a file that a file manager left beside ours does none."""
    return next((fault for fault in faults if fault.code != "file_unknown"), None)


def verify(store: VersionStore, corpus: str, version: int) -> Iterator[Fault]:
    """Yield everything wrong with a version: hashes first, then the tree itself.

    The tree is right when its links lead from the root to every chunk of `chunks.jsonl` exactly once, and
    each leaf holds exactly the text that its span has in the source.
    """
    is_damaged = False
    for fault in store.file_faults(corpus, version):
        is_damaged = is_damaged or first_damage([fault]) is not None
        yield fault
    if not is_damaged:
        yield from _tree_faults(store, corpus, version)


def _tree_faults(store: VersionStore, corpus: str, version: int) -> Iterator[Fault]:
    reached: dict[str, str] = {}
    for path in _walk(store, corpus, version):
        if isinstance(path, Fault):
            yield path
            continue
        name = path.rpartition("/")[2].removeprefix("doc_").removesuffix(".md")
        if name in reached:
            yield Fault(code="leaf_twice", file=path, detail=reached[name])
        reached[name] = path
    yield from _leaf_faults(store, corpus, version, reached)


def _walk(store: VersionStore, corpus: str, version: int) -> Iterator[str | Fault]:
    """Yield the path of every leaf that links lead to, and a fault for every broken node."""
    waiting = [ROOT_PATH]
    while waiting:
        path = waiting.pop()
        text = store.node_text(corpus, version, path)
        if text is None:
            yield Fault(code="broken_link", file=path)
            continue
        try:
            node = parse_summary_node(text)
        except ValueError as error:
            yield Fault(code="unreadable_node", file=path, detail=str(error))
            continue
        folder = path[: -len(SUMMARY_FILE)]
        for child in node.children:
            if child.node_type == "document":
                yield _child_path(folder, child)
            else:
                waiting.append(_child_path(folder, child))


def _child_path(folder: str, child: Child) -> str:
    return f"{folder}{child.name}{'/' + SUMMARY_FILE if child.node_type == 'skill_summary' else '.md'}"


def _leaf_faults(store: VersionStore, corpus: str, version: int, reached: dict[str, str]) -> Iterator[Fault]:
    """Hold the reached leaves against the chunks, and their bodies against the source texts."""
    rows = {row.chunk_id: row for row in store.chunk_rows(corpus, version)}
    for name in reached.keys() - rows.keys():
        yield Fault(code="leaf_unknown", file=reached[name])
    for name in rows.keys() - reached.keys():
        yield Fault(code="leaf_unreachable", file=rows[name].path)
    by_source: dict[str, list[str]] = {}
    for name in rows.keys() & reached.keys():
        by_source.setdefault(rows[name].source, []).append(name)
    for text in store.source_texts(corpus, version):
        for name in sorted(by_source.pop(text.source, ())):
            row = rows[name]
            body = text.extracted.text[row.start : row.end]
            yield from _body_faults(store.node_text(corpus, version, reached[name]), reached[name], body)
    for source in by_source:
        yield Fault(code="source_missing", file=source)


def _body_faults(text: str | None, path: str, body: str) -> Iterator[Fault]:
    try:
        if text is None:
            yield Fault(code="broken_link", file=path)
        elif parse_leaf(text).body != body:
            yield Fault(code="body_differs", file=path)
    except ValueError as error:
        yield Fault(code="unreadable_node", file=path, detail=str(error))
