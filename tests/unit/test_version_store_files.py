"""Versions on a real file system: kills, full and read-only disks, locks, newer workspaces."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from corpus2skill.adapters.store.version_files import FileVersionStore
from corpus2skill.domain.tree import Group, Tree
from corpus2skill.domain.version import VersionContent
from corpus2skill.errors import Busy, InvalidInput, WorkspaceUnusable
from corpus2skill.messages import error_message
from corpus2skill.ports.store import CorpusConfig
from tests.ports.contents import CORPUS, content, node_files, stamp
from tests.unit.children import in_child, killed_at, open_folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "workspace"


@pytest.fixture
def store(root: Path) -> FileVersionStore:
    return FileVersionStore(root)


def compile_once(store: FileVersionStore) -> int:
    written = content()
    with store.exclusive(CORPUS):
        version = store.next_version(CORPUS)
        store.write(written, stamp(version), node_files(written))
        store.activate(CORPUS, version)
    return version


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_compile_killed_at_any_moment_leaves_whole_versions_only(
    store: FileVersionStore, root: Path
) -> None:
    """C-31: kill -9 at every touch of the file system, one after the other."""
    compile_once(store)
    moment, is_through = 0, False
    while not is_through:

        def work(moment: int = moment) -> None:
            killed_at(moment)
            compile_once(FileVersionStore(root))

        ended = in_child(work)
        is_through = not ended.was_killed
        assert ended.said == ("None" if is_through else "")
        versions, active = store.versions(CORPUS), store.active(CORPUS)
        assert active in versions
        for version in versions[-2:]:
            assert list(store.file_faults(CORPUS, version)) == []
        moment += 1
    assert moment > 30
    compile_once(store)
    left = names(root / "corpora" / CORPUS / "versions")
    assert left == sorted(map(str, store.versions(CORPUS)))


def test_a_removal_killed_at_any_moment_never_shows_half_a_version(
    store: FileVersionStore, root: Path
) -> None:
    """C-31: a reader sees the whole version or none."""
    compile_once(store)
    moment, is_through = 0, False
    while not is_through:
        doomed = store.next_version(CORPUS)
        store.write(content(), stamp(doomed), node_files(content()))

        def work(moment: int = moment, doomed: int = doomed) -> None:
            killed_at(moment)
            FileVersionStore(root).remove(CORPUS, doomed)

        is_through = not in_child(work).was_killed
        if doomed in store.versions(CORPUS):
            assert list(store.file_faults(CORPUS, doomed)) == []
        assert store.next_version(CORPUS) == doomed + 1
        moment += 1
    assert store.active(CORPUS) == 1


def test_reading_makes_nothing(store: FileVersionStore, root: Path) -> None:
    """Promised by the port: a workspace that does not exist behaves as an empty one."""
    assert (store.corpora(), store.versions(CORPUS), store.active(CORPUS)) == ((), (), None)
    assert store.config(CORPUS) == CorpusConfig()
    assert not root.exists()


def test_a_workspace_says_its_format(store: FileVersionStore, root: Path) -> None:
    """design.md, section 5: a newer release must be told."""
    compile_once(store)
    assert json.loads((root / "workspace.json").read_text(encoding="utf-8")) == {"format": 1}


def test_a_version_lies_on_disk_as_documented(store: FileVersionStore, root: Path) -> None:
    """design.md, section 5; C-25."""
    compile_once(store)
    corpus = root / "corpora" / CORPUS
    assert names(corpus) == ["active", "active.lock", "compile.lock", "versions"]
    version = corpus / "versions" / "1"
    files = sorted(path.relative_to(version).as_posix() for path in version.rglob("*") if path.is_file())
    assert files == [
        "chunks.idx",
        "chunks.jsonl",
        "files.jsonl",
        "lexical/index.bin",
        "manifest.json",
        "sources.jsonl",
        "texts.jsonl",
        "tree/terms/SKILL.md",
        "tree/terms/cancellation/SKILL.md",
        "tree/terms/cancellation/doc_chunk_1.md",
        "tree/terms/cancellation/doc_chunk_2.md",
    ]
    listed = [json.loads(line)["path"] for line in (version / "files.jsonl").read_bytes().splitlines()]
    assert listed == [file for file in files if file not in ("files.jsonl", "manifest.json")]
    assert store.lexical_folder(CORPUS, 1) == version / "lexical"


@pytest.mark.parametrize(
    "path",
    [
        "../x",
        "tree/terms/../x",
        "tree/other/SKILL.md",
        "/etc/x",
        "manifest.json",
        "lexical/../x",
        "lexical/",
        "x",
    ],
)
def test_a_version_has_no_place_for_files_elsewhere(store: FileVersionStore, root: Path, path: str) -> None:
    """Nothing is ever written outside the version."""
    with pytest.raises(ValueError, match="no place"):
        store.write(content(), stamp(1), [(path, b"x")])
    assert names(root / "corpora" / CORPUS / "versions") == []


def test_chunks_of_any_number_are_found(store: FileVersionStore) -> None:
    """A lookup by doc id loads nothing that grows with the tree (design.md, section 5)."""
    written = renumbered(content(tuple(f"本文{number}" for number in range(9))))
    store.write(written, stamp(1), node_files(written))
    for chunk in written.chunks:
        name = chunk.chunk.chunk_id
        row = store.chunk_row(CORPUS, 1, name)
        assert row is not None
        assert (row.chunk_id, row.title) == (name, chunk.summary.title)
    for name in ("chunk_1", "chunk_8", "chunk_999999999999"):
        assert store.chunk_row(CORPUS, 1, name) is None


def renumbered(written: VersionContent) -> VersionContent:
    """The same chunks under numbers that are neither dense nor in the order of the text."""
    numbers = (70, 3, 100_000, 9, 44, 12, 500, 2, 71)
    chunks = tuple(
        replace(chunk, chunk=replace(chunk.chunk, chunk_id=f"chunk_{number}"))
        for chunk, number in zip(written.chunks, numbers, strict=True)
    )
    group = Group(
        slug="a", title="題", summary="", member_ids=tuple(chunk.chunk.chunk_id for chunk in chunks)
    )
    return replace(written, chunks=chunks, twins=(), tree=Tree(title="題", summary="", groups=(group,)))


def test_a_source_is_found_whatever_stands_beside_its_name(store: FileVersionStore) -> None:
    """A name that is not UTF-8, told in another source's report, hides nothing."""
    written = content(source="規約.docx")
    report = replace(written.reports[0], values=(("equal", "\udc8b\udcf3.docx"),))
    written = replace(written, reports=(report, *written.reports[1:]))
    store.write(written, stamp(1), node_files(written))
    assert store.source_text(CORPUS, 1, "規約.docx") == written.texts[0]
    assert store.source_reports(CORPUS, 1) == written.reports


def test_a_text_without_a_report_is_refused(store: FileVersionStore) -> None:
    """Every source of a version is told of."""
    written = replace(content(), reports=())
    with pytest.raises(ValueError, match="without a report"):
        store.write(written, stamp(1), node_files(written))
    assert store.versions(CORPUS) == ()


def test_a_compile_in_another_process_is_named_and_its_death_frees_the_corpus(
    store: FileVersionStore, root: Path
) -> None:
    """C-32: one is refused clearly; a killed holder blocks nobody."""
    holding, ready = os.pipe()
    child = os.fork()
    if child == 0:
        with FileVersionStore(root).exclusive(CORPUS):
            os.write(ready, b"x")
            signal.pause()
    assert os.read(holding, 1) == b"x"
    os.close(holding)
    os.close(ready)
    with pytest.raises(Busy) as busy, store.exclusive(CORPUS):
        pass
    assert busy.value.values == {"corpus": CORPUS, "pid": child}
    assert str(child) in error_message("ja", busy.value)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    with store.exclusive(CORPUS):
        pass


def test_taking_the_corpus_clears_what_a_killed_compile_left_and_nothing_else(
    store: FileVersionStore, root: Path, tmp_path: Path
) -> None:
    """C-31: rubbish does not pile up, and a link does not lead the broom elsewhere."""
    compile_once(store)
    versions = root / "corpora" / CORPUS / "versions"
    (versions / ".staging-2-abcd" / "tree").mkdir(parents=True)
    (versions / "notes").mkdir()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "file").write_text("mine", encoding="utf-8")
    (versions / ".staging-3-link").symlink_to(tmp_path / "elsewhere")
    with store.exclusive(CORPUS):
        assert {"1", "notes"} <= set(names(versions))
        assert ".staging-2-abcd" not in names(versions)
    assert names(tmp_path / "elsewhere") == ["file"]
    assert store.versions(CORPUS) == (1,)


@contextmanager
def small_disk(root: Path) -> Generator[bool]:
    """Mount a disk of 256 kB at `root`, where this user may; yield whether it is there."""
    root.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(root)], capture_output=True, check=False
    )
    try:
        yield mounted.returncode == 0
    finally:
        if mounted.returncode == 0:
            subprocess.run(["umount", str(root)], check=True)


def test_a_full_disk_is_said_and_the_active_version_stays(store: FileVersionStore, root: Path) -> None:
    """Issue 2, bad input; C-31. Without the right to mount, a limit on file sizes stands in for the disk."""
    with small_disk(root) as is_mounted:
        compile_once(store)
        files = [*node_files(content()), ("lexical/big", b"\0" * 300_000)]
        ended = in_child(
            lambda: FileVersionStore(root).write(content(), stamp(2), files),
            file_size=None if is_mounted else 100_000,
        )
        assert ended.said.startswith("WorkspaceUnusable: disk_full")
        assert (store.versions(CORPUS), store.active(CORPUS)) == ((1,), 1)
        assert names(root / "corpora" / CORPUS / "versions") == ["1"]
        assert compile_once(store) == 2


def test_a_read_only_workspace_can_be_read_and_says_why_it_cannot_be_written() -> None:
    """Issue 2, bad input: tested as an ordinary user."""
    with open_folder() as folder:
        root = folder / "workspace"
        compile_once(FileVersionStore(root))
        for path in (root, *root.rglob("*")):
            path.chmod(0o555 if path.is_dir() else 0o444)

        def read() -> object:
            store = FileVersionStore(root)
            assert list(store.file_faults(CORPUS, 1)) == []
            assert len(list(store.source_texts(CORPUS, 1))) == 1
            assert store.chunk_row(CORPUS, 1, "chunk_2") is not None
            assert store.previous(CORPUS) is None
            assert store.size(CORPUS, 1) > 0
            return (store.corpora(), store.active(CORPUS), store.node_text(CORPUS, 1, "SKILL.md"))

        def compile_again() -> object:
            return compile_once(FileVersionStore(root))

        def write() -> object:
            return FileVersionStore(root).write(content(), stamp(2), node_files(content()))

        def save() -> object:
            return FileVersionStore(root).save_config(CORPUS, CorpusConfig())

        assert in_child(read, as_nobody=True).said == "(('terms',), 1, '節 SKILL.md\\n')"
        for work in (compile_again, write, save):
            assert in_child(work, as_nobody=True).said.startswith("WorkspaceUnusable: no_rights")
        for path in (root, *root.rglob("*")):
            path.chmod(0o755)


def test_a_workspace_that_may_not_be_entered_is_said() -> None:
    """Issue 2, bad input."""
    with open_folder() as folder:
        root = folder / "workspace"
        compile_once(FileVersionStore(root))
        root.chmod(0)
        for work in (
            lambda: FileVersionStore(root).corpora(),
            lambda: FileVersionStore(root).active(CORPUS),
            lambda: FileVersionStore(root).node_text(CORPUS, 1, "SKILL.md"),
        ):
            assert in_child(work, as_nobody=True).said.startswith("WorkspaceUnusable: no_rights")
        root.chmod(0o755)


def test_a_newer_workspace_is_neither_read_nor_written(store: FileVersionStore, root: Path) -> None:
    """Issue 2, bad input: a workspace written by a newer release."""
    root.mkdir()
    (root / "workspace.json").write_text('{"format": 2, "more": []}', encoding="utf-8")
    for ask in (
        store.corpora,
        lambda: store.active(CORPUS),
        lambda: store.save_config(CORPUS, CorpusConfig()),
        lambda: store.write(content(), stamp(1), ()),
    ):
        with pytest.raises(WorkspaceUnusable) as unusable:
            ask()
        assert unusable.value.code == "workspace_newer"
        assert (unusable.value.values["wanted"], unusable.value.values["came"]) == (1, 2)
    assert names(root) == ["workspace.json"]


def test_a_file_where_the_workspace_should_be_is_said(store: FileVersionStore, root: Path) -> None:
    """Issue 2, bad input."""
    root.write_text("", encoding="utf-8")
    for ask in (store.corpora, lambda: store.exclusive(CORPUS)):
        with pytest.raises(WorkspaceUnusable):
            ask()


@pytest.mark.parametrize("language", ["ja", "en"])
def test_every_refusal_has_its_sentence(store: FileVersionStore, language: str) -> None:
    """House rule: a message says what was wanted, what came, what to do."""
    compile_once(store)
    for error in (
        WorkspaceUnusable("disk_full", path="/w", reason="No space left"),
        WorkspaceUnusable("read_only", path="/w", reason="Read-only"),
        WorkspaceUnusable("no_rights", path="/w", reason="Permission denied"),
        WorkspaceUnusable("workspace_io", path="/w", reason="Input/output error"),
        WorkspaceUnusable("workspace_newer", file="/w", wanted=1, came=2),
        InvalidInput("version_is_active", corpus=CORPUS, version=1),
        InvalidInput("invalid_corpus_name", corpus="規約"),
        Busy("busy", corpus=CORPUS),
        Busy("version_exists", corpus=CORPUS, version=1),
    ):
        assert str(next(iter(error.values.values()))) in error_message(language, error)
