"""Versions that were damaged, edited by hand or planted with links."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from corpus2skill.adapters.store.version_files import FileVersionStore
from corpus2skill.errors import Damaged, WorkspaceUnusable
from corpus2skill.messages import error_message, message
from corpus2skill.ports.store import Fault
from tests.ports.contents import CORPUS, content, node_files, stamp
from tests.unit.children import in_child, open_folder

NODE = "cancellation/doc_chunk_1.md"
NODE_FILE = f"tree/{CORPUS}/{NODE}"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "workspace"


@pytest.fixture
def store(root: Path) -> FileVersionStore:
    return written_store(root)


@pytest.fixture
def version(root: Path) -> Path:
    return root / "corpora" / CORPUS / "versions" / "1"


def written_store(root: Path) -> FileVersionStore:
    store = FileVersionStore(root)
    store.write(content(), stamp(1), node_files(content()))
    store.activate(CORPUS, 1)
    return store


READINGS: dict[str, Callable[[FileVersionStore], object]] = {
    "manifest.json": lambda store: store.manifest(CORPUS, 1),
    "chunks.jsonl": lambda store: list(store.chunk_rows(CORPUS, 1)),
    "chunks.idx": lambda store: store.chunk_row(CORPUS, 1, "chunk_1"),
    "sources.jsonl": lambda store: store.source_reports(CORPUS, 1),
    "texts.jsonl": lambda store: list(store.source_texts(CORPUS, 1)),
    NODE_FILE: lambda store: store.node_text(CORPUS, 1, NODE),
}


@pytest.mark.parametrize(
    ("name", "rubbish"),
    [(name, b"\xff\xfe{") for name in READINGS]
    + [(name, b"[1, 2\n") for name in READINGS if name != NODE_FILE],
)
def test_a_file_that_cannot_be_read_is_named(
    store: FileVersionStore, version: Path, name: str, rubbish: bytes
) -> None:
    """C-33; issue 2, bad input: a damaged version."""
    (version / name).write_bytes(rubbish)
    with pytest.raises(Damaged) as damaged:
        READINGS[name](store)
    assert name in error_message("ja", damaged.value)


@pytest.mark.parametrize("name", [name for name in READINGS if name not in (NODE_FILE, "manifest.json")])
def test_a_missing_file_is_named(store: FileVersionStore, version: Path, name: str) -> None:
    """C-33."""
    (version / name).unlink()
    with pytest.raises(Damaged) as damaged:
        READINGS[name](store)
    assert damaged.value.code == "file_missing"
    assert name in error_message("en", damaged.value)


@pytest.mark.parametrize("name", READINGS)
def test_a_link_in_place_of_a_file_is_refused(
    store: FileVersionStore, version: Path, name: str, tmp_path: Path
) -> None:
    """A version never leads out of itself, not even to an equal file."""
    (version / name).rename(tmp_path / "outside")
    (version / name).symlink_to(tmp_path / "outside")
    with pytest.raises(Damaged):
        READINGS[name](store)


def test_a_link_in_place_of_a_folder_is_refused(
    store: FileVersionStore, version: Path, tmp_path: Path
) -> None:
    """A version never leads out of itself."""
    folder = version / "tree" / CORPUS / "cancellation"
    folder.rename(tmp_path / "outside")
    folder.symlink_to(tmp_path / "outside")
    with pytest.raises(Damaged):
        store.node_text(CORPUS, 1, NODE)
    assert Fault(code="file_unknown", file=f"tree/{CORPUS}/cancellation") in store.file_faults(CORPUS, 1)


def test_what_is_no_file_is_refused_without_waiting_for_it(store: FileVersionStore, version: Path) -> None:
    """A pipe in place of a node would block a reader for ever."""
    (version / NODE_FILE).unlink()
    os.mkfifo(version / NODE_FILE)
    with pytest.raises(Damaged):
        store.node_text(CORPUS, 1, NODE)
    (version / NODE_FILE).unlink()
    (version / NODE_FILE).mkdir()
    with pytest.raises(Damaged):
        store.node_text(CORPUS, 1, NODE)


def test_an_index_that_points_elsewhere_is_damaged(store: FileVersionStore, version: Path) -> None:
    """The row of another chunk is never given for the one asked."""
    index = version / "chunks.idx"
    data = index.read_bytes()
    index.write_bytes(data[:8] + data[32:48] + data[24:])
    with pytest.raises(Damaged):
        store.chunk_row(CORPUS, 1, "chunk_1")
    for wrong in (data[:-1], data[:8] + b"\xff" * 16 + data[24:], data[:16] + b"\x7f" * 8 + data[24:]):
        index.write_bytes(wrong)
        with pytest.raises(Damaged):
            store.chunk_row(CORPUS, 1, "chunk_1")


def test_a_manifest_edited_by_hand_shows(store: FileVersionStore, version: Path) -> None:
    """C-33; issue 2, bad input: a hand-edited version."""
    file = version / "manifest.json"
    edited = file.read_text(encoding="utf-8").replace("利用規約ツリー", "別の題")
    file.write_text(edited, encoding="utf-8")
    with pytest.raises(Damaged):
        store.manifest(CORPUS, 1)
    assert list(store.file_faults(CORPUS, 1)) == [Fault(code="file_changed", file="manifest.json")]


def test_a_manifest_of_a_newer_release_is_told_from_a_damaged_one(
    store: FileVersionStore, version: Path
) -> None:
    """Promised by the port."""
    file = version / "manifest.json"
    newer = json.loads(file.read_text(encoding="utf-8")) | {"format": 2, "shape": "unknown"}
    file.write_text(json.dumps(newer), encoding="utf-8")
    with pytest.raises(WorkspaceUnusable) as unusable:
        store.manifest(CORPUS, 1)
    assert unusable.value.code == "workspace_newer"


def test_a_check_names_every_file_that_is_not_as_written(store: FileVersionStore, version: Path) -> None:
    """C-33."""
    (version / NODE_FILE).write_text("書き換え", encoding="utf-8")
    (version / "texts.jsonl").unlink()
    (version / "tree" / CORPUS / "余分.md").write_text("", encoding="utf-8")
    (version / "lexical" / "more").symlink_to("/etc")
    assert list(store.file_faults(CORPUS, 1)) == [
        Fault(code="file_missing", file="texts.jsonl"),
        Fault(code="file_changed", file=NODE_FILE),
        Fault(code="file_unknown", file="lexical/more"),
        Fault(code="file_unknown", file=f"tree/{CORPUS}/余分.md"),
    ]


@pytest.mark.parametrize("path", ["../../../active", "/etc/hostname", "tree/../manifest.json", "a\0b"])
def test_a_listing_that_leads_out_of_the_version_is_not_followed(
    store: FileVersionStore, version: Path, path: str
) -> None:
    """A version never leads out of itself."""
    line = json.dumps({"path": path, "bytes": 1, "sha256": "0" * 64})
    (version / "files.jsonl").write_text(line + "\n", encoding="utf-8")
    assert Fault(code="file_changed", file="files.jsonl") in store.file_faults(CORPUS, 1)


def test_a_listing_edited_to_fit_a_changed_file_shows(store: FileVersionStore, version: Path) -> None:
    """C-33: the manifest holds the listing's hash."""
    listing = version / "files.jsonl"
    listing.write_bytes(listing.read_bytes().replace(b'"bytes":2', b'"bytes":3'))
    assert list(store.file_faults(CORPUS, 1)) == [Fault(code="file_changed", file="files.jsonl")]


def test_a_file_that_may_not_be_read_is_a_fault_and_the_check_goes_on() -> None:
    """C-33: tested as an ordinary user."""
    with open_folder() as folder:
        root = folder / "workspace"
        store = written_store(root)
        (root / "corpora" / CORPUS / "versions" / "1" / NODE_FILE).chmod(0)
        ended = in_child(
            lambda: [(fault.code, fault.file) for fault in store.file_faults(CORPUS, 1)], as_nobody=True
        )
        assert ended.said == str([("file_unreadable", NODE_FILE)])


def test_a_damaged_pointer_is_said_and_mended_by_naming_a_version(
    store: FileVersionStore, root: Path
) -> None:
    """Promised by the port: Damaged, never another version by guess."""
    pointer = root / "corpora" / CORPUS / "active"
    store.write(content(), stamp(2), node_files(content()))
    for rubbish in (b"", b"2", b'{"version": "2"}', b"\xff"):
        pointer.write_bytes(rubbish)
        for ask in (store.active, store.previous, store.rollback):
            with pytest.raises(Damaged) as damaged:
                ask(CORPUS)
            assert "active" in error_message("ja", damaged.value)
        assert store.next_version(CORPUS) == 3
    store.activate(CORPUS, 1)
    assert (store.active(CORPUS), store.next_version(CORPUS)) == (1, 3)


@pytest.mark.parametrize("name", ["workspace.json", f"corpora/{CORPUS}/config.json"])
def test_a_damaged_file_of_the_workspace_is_named(store: FileVersionStore, root: Path, name: str) -> None:
    """Issue 2, bad input."""
    (root / name).write_text("{", encoding="utf-8")
    with pytest.raises(Damaged) as damaged:
        FileVersionStore(root).config(CORPUS)
    assert Path(name).name in error_message("en", damaged.value)


@pytest.mark.parametrize("stranger", ["0", "-1", "1.5", "007", "²", "tmp"])
def test_a_folder_that_is_no_version_is_not_listed(
    store: FileVersionStore, version: Path, stranger: str
) -> None:
    """Promised by the port: complete versions only."""
    (version.parent / stranger).mkdir()
    (version.parent / stranger / "manifest.json").write_text("{}", encoding="utf-8")
    (version.parent / "9").mkdir()
    assert store.versions(CORPUS) == (1,)
    assert store.next_version(CORPUS) == 10


@pytest.mark.parametrize("code", ["file_changed", "file_missing", "file_unknown", "file_unreadable"])
def test_every_fault_has_its_sentence(code: str) -> None:
    """House rule: both languages."""
    for language in ("ja", "en"):
        assert "x.md" in message(language, f"fault.{code}", file="x.md", detail="why")
