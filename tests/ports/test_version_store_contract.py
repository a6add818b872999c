"""What every `VersionStore` promises, asked of the real one and of the one in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from corpus2skill.adapters.store.version_files import FileVersionStore
from corpus2skill.domain.version import VersionContent
from corpus2skill.errors import Busy, Damaged, InvalidInput, VersionNotFound
from corpus2skill.ports.store import CorpusConfig, VersionStore
from tests.fakes.version_store import FakeVersionStore
from tests.ports.contents import CORPUS, content, node_files, stamp

LEAF = "cancellation/doc_chunk_1.md"


@pytest.fixture(params=["files", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> VersionStore:
    return FileVersionStore(tmp_path / "workspace") if request.param == "files" else FakeVersionStore()


def write(store: VersionStore, version: int, written: VersionContent | None = None) -> VersionContent:
    written = written or content()
    store.write(written, stamp(version), node_files(written))
    return written


def test_a_new_workspace_is_empty(store: VersionStore) -> None:
    """Promised by the port: reading what is not there gives nothing."""
    assert store.corpora() == ()
    assert store.versions(CORPUS) == ()
    assert store.active(CORPUS) is None
    assert store.previous(CORPUS) is None
    assert store.next_version(CORPUS) == 1
    assert store.config(CORPUS) == CorpusConfig()


def test_a_written_version_is_there_and_not_yet_active(store: VersionStore) -> None:
    """C-30: writing and switching are two steps."""
    write(store, 1)
    assert store.versions(CORPUS) == (1,)
    assert store.active(CORPUS) is None
    assert store.next_version(CORPUS) == 2
    assert store.corpora() == (CORPUS,)


def test_a_manifest_counts_what_was_written(store: VersionStore) -> None:
    """Promised by design.md, section 5: totals, settings, warnings."""
    written = content(is_stand_in=True)
    manifest = store.write(written, stamp(3, predecessor=2), node_files(written))
    assert store.manifest(CORPUS, 3) == manifest
    assert (manifest.version, manifest.predecessor, manifest.title) == (3, 2, "利用規約ツリー")
    assert (manifest.sources, manifest.chunks, manifest.nodes, manifest.depth) == (1, 2, 2, 1)
    assert (manifest.stand_ins, manifest.refused) == (2, 1)
    assert manifest.warnings == written.reports[0].notices
    assert manifest.next_chunk_number == 3


def test_everything_written_can_be_read_back(store: VersionStore) -> None:
    """Promised by the port: a successor is made from these alone."""
    written = write(store, 1)
    assert store.source_reports(CORPUS, 1) == written.reports
    assert tuple(store.source_texts(CORPUS, 1)) == written.texts
    source = written.texts[0].source
    assert store.source_text(CORPUS, 1, source) == written.texts[0]
    assert store.source_text(CORPUS, 1, "空.txt") is None
    assert store.source_text(CORPUS, 1, "ない.txt") is None


def test_a_chunks_row_says_all_that_is_known_of_it(store: VersionStore) -> None:
    """C-15, C-24: place, span, twins and what the summary is."""
    written = write(store, 1, content(is_stand_in=True))
    rows = tuple(store.chunk_rows(CORPUS, 1))
    assert [row.chunk_id for row in rows] == ["chunk_1", "chunk_2"]
    first, chunk = rows[0], written.chunks[0].chunk
    assert store.chunk_row(CORPUS, 1, "chunk_1") == first
    assert (first.path, first.source, first.fingerprint) == (LEAF, chunk.source, chunk.fingerprint)
    assert (first.start, first.end) == (chunk.start, chunk.end)
    assert (first.headings, first.pages, first.page_kind) == (("第3章 解約", "第12条"), ("4", "5"), "page")
    assert (first.title, first.summary) == ("見出し1", "要約1。")
    assert (first.document_title, first.table_header) == ("利用規約", "| プラン | 料金 |")
    assert (first.is_choices_only, first.is_stand_in, first.twins) == (True, True, ("chunk_2",))


@pytest.mark.parametrize("name", ["chunk_3", "chunk_0", "doc_chunk_1", "", "chunk_01", "../chunk_1", "漢字"])
def test_an_unknown_chunk_has_no_row(store: VersionStore, name: str) -> None:
    """Promised by the port."""
    write(store, 1)
    assert store.chunk_row(CORPUS, 1, name) is None


def test_a_node_is_read_by_its_path(store: VersionStore) -> None:
    """C-25: the tree is text files."""
    write(store, 1)
    assert store.node_text(CORPUS, 1, "SKILL.md") == "節 SKILL.md\n"
    assert store.node_text(CORPUS, 1, LEAF) == "葉 chunk_1\n"


@pytest.mark.parametrize(
    "path",
    [
        "pricing/SKILL.md",
        "../terms/SKILL.md",
        "cancellation/../SKILL.md",
        "/SKILL.md",
        "./SKILL.md",
        "cancellation\\SKILL.md",
        "%2e%2e/SKILL.md",
        "SKILL.md\0",
        "../../manifest.json",
        "cancellation",
        "",
    ],
)
def test_a_path_that_is_no_node_of_the_version_gives_nothing(store: VersionStore, path: str) -> None:
    """Issue 2, bad input: nothing outside the tree can be named."""
    write(store, 1)
    assert store.node_text(CORPUS, 1, path) is None


def test_a_version_that_does_not_exist_is_said(store: VersionStore) -> None:
    """Promised by the port: VersionNotFound, never an empty answer."""
    write(store, 1)
    for ask in (
        lambda: store.manifest(CORPUS, 2),
        lambda: store.node_text(CORPUS, 2, "SKILL.md"),
        lambda: store.chunk_row(CORPUS, 2, "chunk_1"),
        lambda: list(store.chunk_rows(CORPUS, 2)),
        lambda: store.source_reports(CORPUS, 2),
        lambda: list(store.source_texts(CORPUS, 2)),
        lambda: store.source_text(CORPUS, 2, "a"),
        lambda: list(store.file_faults(CORPUS, 2)),
        lambda: store.activate(CORPUS, 2),
        lambda: store.remove(CORPUS, 2),
        lambda: store.size(CORPUS, 2),
        lambda: store.rollback(CORPUS),
        lambda: store.manifest("other", 1),
    ):
        with pytest.raises(VersionNotFound):
            ask()


def test_a_version_is_never_overwritten(store: VersionStore) -> None:
    """C-31: a written version is immutable."""
    before = write(store, 1)
    other = content(("別の本文。",))
    with pytest.raises(Busy):
        store.write(other, stamp(1), node_files(other))
    assert tuple(store.source_texts(CORPUS, 1)) == before.texts
    assert not list(store.file_faults(CORPUS, 1))


def test_files_that_cannot_be_made_leave_no_version(store: VersionStore) -> None:
    """C-31: it appears complete or not at all."""
    write(store, 1)
    store.activate(CORPUS, 1)
    written = content()

    def failing() -> Iterator[tuple[str, bytes]]:
        yield node_files(written)[0]
        raise Damaged("file_damaged", file="x")

    with pytest.raises(Damaged):
        store.write(written, stamp(2), failing())
    assert (store.versions(CORPUS), store.active(CORPUS), store.next_version(CORPUS)) == ((1,), 1, 2)


def test_switching_moves_the_pointer_and_rollback_goes_back_step_by_step(store: VersionStore) -> None:
    """C-30: `activate` and `rollback`."""
    for version in (1, 2, 3):
        write(store, version)
        store.activate(CORPUS, version)
    store.activate(CORPUS, 3)
    assert (store.active(CORPUS), store.previous(CORPUS)) == (3, 2)
    assert store.rollback(CORPUS) == 2
    assert (store.active(CORPUS), store.previous(CORPUS)) == (2, 1)
    assert store.rollback(CORPUS) == 1
    assert store.previous(CORPUS) is None
    with pytest.raises(VersionNotFound):
        store.rollback(CORPUS)
    assert store.active(CORPUS) == 1


def test_rollback_after_naming_an_older_version_returns_to_where_one_was(store: VersionStore) -> None:
    """C-30: the history is of what was active, not of numbers."""
    for version in (1, 2, 3):
        write(store, version)
        store.activate(CORPUS, version)
    store.activate(CORPUS, 1)
    assert store.rollback(CORPUS) == 3
    assert store.rollback(CORPUS) == 2


def test_rollback_passes_over_removed_versions(store: VersionStore) -> None:
    """Promised by the port: `previous` still exists."""
    for version in (1, 2, 3):
        write(store, version)
        store.activate(CORPUS, version)
    store.remove(CORPUS, 2)
    assert store.versions(CORPUS) == (1, 3)
    assert store.rollback(CORPUS) == 1


def test_the_active_version_is_never_removed(store: VersionStore) -> None:
    """C-31."""
    write(store, 1)
    store.activate(CORPUS, 1)
    with pytest.raises(InvalidInput):
        store.remove(CORPUS, 1)
    assert store.versions(CORPUS) == (1,)


def test_a_removed_versions_number_is_not_given_again(store: VersionStore) -> None:
    """Promised by the port: records name versions by number."""
    write(store, 1)
    store.activate(CORPUS, 1)
    write(store, 2)
    store.remove(CORPUS, 2)
    assert store.next_version(CORPUS) == 3


def test_one_compile_at_a_time_holds_a_corpus(store: VersionStore) -> None:
    """C-32; another corpus is not touched by it."""
    with store.exclusive(CORPUS):
        with pytest.raises(Busy) as busy, store.exclusive(CORPUS):
            pass
        assert busy.value.values["corpus"] == CORPUS
        with store.exclusive("other"):
            pass
    with store.exclusive(CORPUS):
        pass


def test_a_compile_that_came_to_nothing_makes_no_corpus(store: VersionStore) -> None:
    """Promised by the port: `corpora` names what was compiled."""
    with store.exclusive(CORPUS):
        pass
    assert store.corpora() == ()


def test_a_corpus_remembers_its_paths(store: VersionStore) -> None:
    """design.md, section 4: a bare `compile` repeats them."""
    config = CorpusConfig(paths=("/文書/規約", "/data/FAQ"), title="サンプル")
    store.save_config(CORPUS, config)
    store.save_config("b", CorpusConfig())
    assert store.config(CORPUS) == config
    assert store.corpora() == ("b", CORPUS)


@pytest.mark.parametrize("name", ["", "..", "a/b", "A", "規約", "con", "a" * 65, "a\0"])
def test_a_corpus_needs_a_name_that_can_be_a_folder(store: VersionStore, name: str) -> None:
    """Promised by `domain.ids.is_corpus_name`."""
    with pytest.raises(InvalidInput):
        store.versions(name)
    with pytest.raises(InvalidInput):
        store.save_config(name, CorpusConfig())


def test_corpora_do_not_mix(store: VersionStore) -> None:
    """design.md, section 6: never mix."""
    write(store, 1)
    write(store, 1, content(("Annual plans end with the term.",), corpus="other"))
    store.activate("other", 1)
    assert store.active(CORPUS) is None
    assert len(list(store.chunk_rows("other", 1))) == 1


def test_a_sound_version_has_no_faults_and_a_size(store: VersionStore) -> None:
    """C-33."""
    write(store, 1)
    assert list(store.file_faults(CORPUS, 1)) == []
    assert store.size(CORPUS, 1) > 0


def test_equal_content_gives_an_equal_manifest(store: VersionStore) -> None:
    """C-27: only the stamp differs."""
    first = store.write(content(), stamp(1), node_files(content()))
    second = store.write(content(), stamp(2), node_files(content()))
    assert replace(second, version=1) == first


names = st.text(min_size=1, max_size=30)
bodies = st.lists(st.text(min_size=1, max_size=200), min_size=1, max_size=4)


@pytest.mark.parametrize("kind", ["files", "memory"])
@given(source=names, bodies=bodies)
@example(
    source="規約/第1章\u3000総則\u202e.docx",
    bodies=["解約は、末日に効力を生じます。\u2028次の行", "\x00\x7f\ufeff"],
)
@example(source="\udc83t\udc83@\udc83C\udc83\u2039", bodies=["名前が UTF-8 でない文書。"])
@example(source='a"b\\c\nd', bodies=['"],{}', "𠮷野家で𩸽"])
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_texts_and_names_of_every_kind_come_back_as_they_were(
    kind: str, source: str, bodies: list[str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Promised by the port: what was written is what is read."""
    store = FileVersionStore(tmp_path_factory.mktemp("w")) if kind == "files" else FakeVersionStore()
    written = write(store, 1, content(tuple(bodies), source=source))
    assert tuple(store.source_texts(CORPUS, 1)) == written.texts
    assert store.source_reports(CORPUS, 1) == written.reports
    assert store.source_text(CORPUS, 1, source) == written.texts[0]
    rows = list(store.chunk_rows(CORPUS, 1))
    text = written.texts[0].extracted.text
    assert [text[row.start : row.end] for row in rows] == bodies
    assert [store.chunk_row(CORPUS, 1, row.chunk_id) for row in rows] == rows
    assert list(store.file_faults(CORPUS, 1)) == []


def test_a_removed_corpus_is_gone_but_for_its_numbers(store: VersionStore) -> None:
    """Kept records cite versions and chunks by number: a new corpus of the name does not give them again."""
    written = write(store, 1)
    store.activate(CORPUS, 1)
    store.save_config(CORPUS, CorpusConfig(title="利用規約"))
    store.forget(CORPUS)
    store.forget("never-there")
    assert store.corpora() == ()
    assert (store.active(CORPUS), store.versions(CORPUS)) == (None, ())
    assert store.config(CORPUS) == CorpusConfig()
    assert store.next_version(CORPUS) == 2
    assert store.next_chunk_number(CORPUS) == written.next_chunk_number
