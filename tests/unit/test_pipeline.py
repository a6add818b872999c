"""Part 1 of the article as a whole, over fakes that count what they are asked."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corpus2skill.compiler.pipeline import CompileRequest, CompilerPorts, compile_corpus
from corpus2skill.compiler.publish import verify
from corpus2skill.domain.chunk import Chunk, ChunkSizes, ChunkSummary
from corpus2skill.domain.corpus import SourceReport
from corpus2skill.domain.job import STAGES, CompileEvent, CompileReport, SourceJudged, StageProgress
from corpus2skill.domain.tree import TreeLimits
from corpus2skill.errors import (
    Busy,
    CompileFailed,
    ConfirmationNeeded,
    Corpus2SkillError,
    Damaged,
    ModelUnavailable,
    NothingToCompile,
    StrictRefusal,
    UnusableSettings,
)
from corpus2skill.ports.lexical_index import IndexedLeaf
from corpus2skill.ports.store import CorpusConfig, Seen
from tests.fakes.clock import FakeClock
from tests.fakes.sources import FakeExtractor, FakeSources
from tests.fakes.version_store import FakeVersionStore
from tests.unit.test_cluster import Shelves

pytestmark = pytest.mark.anyio

REQUEST = CompileRequest(corpus="docs", title="サンプル", sizes=ChunkSizes(limit=60, minimum=10))
TERMS = "\n\n".join(
    f"第{number}条\n契約者は{number}日以内に届け出るものとし、届け出のない場合は{number}円を支払う。"
    for number in range(1, 31)
)
FAQ = "よくある質問\n\n解約はどこからできますか。契約管理画面からできます。"


class CountingSummarizer:
    """Takes the first characters; counts its calls; fails from call `fails_at` on."""

    identity = "counting-1"

    def __init__(self, fails_at: int | None = None) -> None:
        self.calls: list[str] = []
        self.fails_at = fails_at

    async def summarize(self, chunks: Sequence[Chunk]) -> AsyncIterator[ChunkSummary]:
        for chunk in chunks:
            if len(self.calls) == self.fails_at:
                raise ModelUnavailable("model_unavailable", reason="overloaded")
            self.calls.append(chunk.chunk_id)
            line = " ".join(chunk.text.split())
            yield ChunkSummary(title=line[:40], summary=line[:160])


class NoIndex:
    """Writes the leaves' paths, so that the index's place beside the tree is tested."""

    def prepare(self, text: str) -> None:
        assert text.strip()

    def write(self, leaves: Sequence[IndexedLeaf]) -> Iterator[tuple[str, bytes]]:
        yield "paths.txt", "\n".join(leaf.path for leaf in leaves).encode()


def world(texts: Mapping[str, str], store: FakeVersionStore, **changed: object) -> CompilerPorts:
    ports = CompilerPorts(
        reader=FakeSources(texts),
        extractor=FakeExtractor(),
        summarizer=CountingSummarizer(),
        grouper=Shelves(),
        index_writer=NoIndex(),
        store=store,
        clock=FakeClock(),
        product="0",
    )
    return replace(ports, **changed)  # type: ignore[arg-type]


async def compiled(
    texts: Mapping[str, str], store: FakeVersionStore, request: CompileRequest = REQUEST, **changed: object
) -> CompileReport:
    return await compile_corpus(request, world(texts, store, **changed), lambda _: None)


def tree_files(store: FakeVersionStore, version: int) -> dict[str, bytes]:
    return {path: data for path, data in store.files("docs", version).items() if path.startswith("tree/")}


@pytest.mark.requirement("C-01")
async def test_a_compile_runs_the_six_stages_in_order_and_switches_to_the_new_version() -> None:
    """The article, Part 1."""
    store, events = FakeVersionStore(), list[CompileEvent]()
    report = await compile_corpus(REQUEST, world({"terms.md": TERMS}, store), events.append)
    told = [event.stage for event in events if isinstance(event, StageProgress)]
    assert tuple(dict.fromkeys(told)) == STAGES
    assert (report.is_new, report.is_activated, store.active("docs")) == (True, True, 1)
    assert report.manifest.chunks == len(list(store.chunk_rows("docs", 1))) == 30


@pytest.mark.requirement("C-25")
@pytest.mark.requirement("C-26")
@settings(max_examples=40, deadline=None)
@given(
    texts=st.dictionaries(
        st.sampled_from(["利用規約.md", "料金/表.csv", "faq.txt", "お知らせ.txt"]),
        st.text(alphabet="あ解約。 \n\n#---[]()\\年額|", max_size=600).filter(str.strip),
        min_size=1,
    )
)
async def test_the_leaves_are_exactly_the_chunks_whatever_the_texts(texts: dict[str, str]) -> None:
    """Issue table, coverage: each leaf reachable by links, none twice, bodies as in the source."""
    store = FakeVersionStore()
    report = await compiled(texts, store)
    assert list(verify(store, "docs", 1)) == []
    leaves = [path for path in tree_files(store, 1) if "/doc_chunk_" in path]
    assert len(leaves) == report.manifest.chunks


@pytest.mark.requirement("C-25")
@pytest.mark.parametrize("count", [1, 2, 30, 31, 361, 500])
async def test_trees_of_every_size_are_whole(count: int) -> None:
    """Issue table, coverage: 0 to 500 chunks (none at all is refused, see below)."""
    store = FakeVersionStore()
    text = "\n\n".join(f"第{number}条 契約者は届け出るものとする。" + "あ" * 40 for number in range(count))
    report = await compiled({"a.md": text}, store)
    assert (report.manifest.chunks, list(verify(store, "docs", 1))) == (count, [])


@pytest.mark.requirement("C-02")
@pytest.mark.requirement("C-03")
@pytest.mark.requirement("C-04")
async def test_a_refused_source_is_named_costs_nothing_and_stops_no_other() -> None:
    """The article, Step 1."""
    store, summarizer = FakeVersionStore(), CountingSummarizer()
    report = await compiled(
        {"good.txt": FAQ, "empty.txt": " \n", "broken.txt": "x"},
        store,
        extractor=FakeExtractor({"broken.txt": "undecodable"}),
        summarizer=summarizer,
    )
    verdicts = {line.source: line.verdict for line in report.reports}
    assert verdicts == {"good.txt": "accepted", "empty.txt": "empty", "broken.txt": "undecodable"}
    assert len(summarizer.calls) == report.manifest.chunks


@pytest.mark.requirement("C-03")
async def test_nothing_readable_at_all_is_an_error_and_no_call_is_made() -> None:
    """The article: stop broken input before what costs."""
    store, summarizer = FakeVersionStore(), CountingSummarizer()
    with pytest.raises(NothingToCompile):
        await compiled({"empty.txt": ""}, store, summarizer=summarizer)
    assert (summarizer.calls, store.versions("docs")) == ([], ())


async def test_equal_files_are_compiled_once_and_the_second_is_named() -> None:
    """Issue, the six stages: duplicates by content skipped and said."""
    report = await compiled({"a.txt": FAQ, "b.txt": FAQ}, FakeVersionStore())
    twin = next(line for line in report.reports if line.source == "b.txt")
    assert (twin.verdict, dict(twin.values)) == ("duplicate", {"same_as": "a.txt"})


@pytest.mark.requirement("C-05")
@pytest.mark.parametrize("verdict", ["unreadable", "vanished", "undecodable", "empty"])
async def test_a_source_that_is_refused_now_keeps_its_last_good_text(verdict: str) -> None:
    """Design, what a second compile means."""
    store = FakeVersionStore()
    await compiled({"faq.txt": FAQ, "terms.md": TERMS}, store)
    reader = FakeSources(
        {"terms.md": TERMS + "\n\n付則。届け出は書面による。"}, refusals={"faq.txt": verdict}
    )
    report = await compiled({}, store, reader=reader, extractor=FakeExtractor({"faq.txt": verdict}))
    kept = next(line for line in report.reports if line.source == "faq.txt")
    assert (kept.verdict, kept.detail) == ("kept", verdict)
    assert {text.source for text in store.source_texts("docs", 2)} == {"faq.txt", "terms.md"}


@pytest.mark.requirement("C-05")
async def test_a_source_gone_from_a_listed_folder_is_removed_and_one_out_of_sight_is_kept() -> None:
    """Design, what a second compile means."""
    store = FakeVersionStore()
    texts = {f"{number}.txt": f"{number}番の文書。{FAQ}" for number in range(10)}
    await compiled(texts, store)
    del texts["3.txt"]
    hidden = await compiled({}, store, reader=FakeSources(texts, is_listed=False))
    assert hidden.is_new is False
    report = await compiled(texts, store)
    assert report.difference.sources_removed == ("3.txt",)


@pytest.mark.requirement("C-06")
async def test_losing_more_than_a_fifth_of_the_sources_needs_a_confirmation() -> None:
    """Design, what a second compile means."""
    store = FakeVersionStore()
    texts = {f"{number}.txt": f"{number}番の文書。{FAQ}" for number in range(10)}
    await compiled(texts, store)
    fewer = dict(list(texts.items())[:7])
    summarizer = CountingSummarizer()
    with pytest.raises(ConfirmationNeeded) as refused:
        await compiled(fewer, store, summarizer=summarizer)
    assert (refused.value.values["gone"], refused.value.values["had"], summarizer.calls) == (3, 10, [])
    assert store.active("docs") == 1
    await compiled(fewer, store, replace(REQUEST, is_confirmed=True))
    assert store.active("docs") == 2


@pytest.mark.requirement("C-06")
@pytest.mark.requirement("C-17")
async def test_renaming_every_file_loses_nothing_and_summarises_nothing() -> None:
    """Design: a renamed file costs nothing."""
    store, summarizer = FakeVersionStore(), CountingSummarizer()
    texts = {f"{number}.txt": f"{number}番の文書。{FAQ}" for number in range(10)}
    await compiled(texts, store)
    renamed = {f"新/{name}": text for name, text in texts.items()}
    report = await compiled(renamed, store, summarizer=summarizer)
    assert summarizer.calls == []
    assert (report.difference.leaves_added, report.difference.leaves_removed) == ((), ())
    assert (report.difference.sources_added, report.difference.sources_removed) == ((), ())
    assert report.difference.sources_renamed[3] == ("3.txt", "新/3.txt")
    gone = {line.source: line for line in report.reports if line.verdict == "renamed"}
    assert dict(gone["3.txt"].values) == {"renamed_to": "新/3.txt"}
    assert len(gone) == 10


@pytest.mark.requirement("C-18")
async def test_a_summary_out_of_form_is_a_failure_and_not_published() -> None:
    """The article, Step 3: 40 and 160 characters."""

    class Longwinded(CountingSummarizer):
        async def summarize(self, chunks: Sequence[Chunk]) -> AsyncIterator[ChunkSummary]:
            for _ in chunks:
                yield ChunkSummary(title="長" * 41, summary="要約")

    store = FakeVersionStore()
    with pytest.raises(Corpus2SkillError):
        await compiled({"a.txt": FAQ}, store, summarizer=Longwinded())
    assert store.versions("docs") == ()


@pytest.mark.requirement("C-19")
@pytest.mark.requirement("C-31")
async def test_a_failed_call_fails_the_compile_and_leaves_the_active_version_alone() -> None:
    """The article, Step 6: 更新に失敗しただけ; field report 6."""
    store = FakeVersionStore()
    await compiled({"faq.txt": FAQ}, store)
    before = dict(store.files("docs", 1))
    with pytest.raises(ModelUnavailable):
        await compiled({"terms.md": TERMS, "faq.txt": FAQ}, store, summarizer=CountingSummarizer(fails_at=5))
    assert (store.active("docs"), store.versions("docs"), store.files("docs", 1)) == (1, (1,), before)


@pytest.mark.requirement("C-22")
async def test_limits_that_cannot_hold_the_corpus_are_refused_before_the_first_summary() -> None:
    """Design: refused with the smallest that do; nothing paid."""
    summarizer = CountingSummarizer()
    request = replace(REQUEST, limits=TreeLimits(max_children=2, max_leaves=2, fetch_limit=5))
    with pytest.raises(UnusableSettings):
        await compiled({"terms.md": TERMS}, FakeVersionStore(), request, summarizer=summarizer)
    assert summarizer.calls == []


@pytest.mark.requirement("C-27")
async def test_the_same_input_gives_byte_identical_node_files() -> None:
    """Issue table."""
    first, second = FakeVersionStore(), FakeVersionStore()
    for store in (first, second):
        await compiled({"terms.md": TERMS, "faq.txt": FAQ}, store)
        await compiled({"terms.md": TERMS.replace("3日", "5日"), "faq.txt": FAQ}, store)
    for version in (1, 2):
        assert tree_files(first, version) == tree_files(second, version)


@pytest.mark.requirement("C-28")
@pytest.mark.requirement("C-29")
async def test_an_edit_costs_the_edit() -> None:
    """Field report 8: only changed chunks are summarised; untouched node files stay byte-identical."""
    store, summarizer = FakeVersionStore(), CountingSummarizer()
    await compiled({"terms.md": TERMS, "faq.txt": FAQ}, store)
    report = await compiled(
        {"terms.md": TERMS.replace("15日以内", "16日以内"), "faq.txt": FAQ}, store, summarizer=summarizer
    )
    assert len(summarizer.calls) == 1
    assert report.reused_summaries == report.manifest.chunks - 1
    old, new = tree_files(store, 1), tree_files(store, 2)
    leaves = {path for path in old.keys() & new.keys() if "/doc_" in path}
    assert len(leaves) == report.manifest.chunks - 1
    assert all(old[path] == new[path] for path in leaves)


@pytest.mark.requirement("C-28")
async def test_nothing_changed_makes_no_new_version_and_asks_nothing() -> None:
    """Field report, screens 3: same bytes twice, zero calls the second time."""
    store, summarizer, grouper = FakeVersionStore(), CountingSummarizer(), Shelves()
    await compiled({"terms.md": TERMS}, store)
    extractor = FakeExtractor()
    report = await compiled(
        {"terms.md": TERMS}, store, summarizer=summarizer, grouper=grouper, extractor=extractor
    )
    assert (report.is_new, report.manifest.version, store.versions("docs")) == (False, 1, (1,))
    assert report.difference.is_empty
    assert (summarizer.calls, grouper.grouped, grouper.described, extractor.read) == ([], [], [], [])


async def test_a_version_can_be_written_without_switching_to_it() -> None:
    """Issue, compile --no-activate."""
    store = FakeVersionStore()
    await compiled({"faq.txt": FAQ}, store)
    report = await compiled({"terms.md": TERMS}, store, replace(REQUEST, activate=False))
    assert (report.is_activated, report.manifest.version, store.active("docs")) == (False, 2, 1)


async def test_regroup_starts_afresh_and_can_replace_a_damaged_version() -> None:
    """Design, recompiling; numbers are not used again even then."""
    store = FakeVersionStore()
    first = await compiled({"faq.txt": FAQ}, store)
    del store.files("docs", 1)["tree/docs/SKILL.md"]
    with pytest.raises(Damaged):
        await compiled({"faq.txt": FAQ}, store)
    second = await compiled({"faq.txt": FAQ}, store, replace(REQUEST, regroup=True))
    names = [row.chunk_id for row in store.chunk_rows("docs", 2)]
    assert second.manifest.version == 2
    assert names[0] == f"chunk_{first.manifest.next_chunk_number}"


async def test_strict_publishes_nothing_when_a_source_was_refused() -> None:
    """Design, refused files: strict refuses."""
    store = FakeVersionStore()
    with pytest.raises(StrictRefusal):
        await compiled({"faq.txt": FAQ, "empty.txt": ""}, store, replace(REQUEST, strict=True))
    assert store.versions("docs") == ()


@pytest.mark.requirement("C-32")
async def test_a_second_compile_of_the_corpus_is_refused_while_one_runs() -> None:
    """Issue table: never a mixed tree."""
    store = FakeVersionStore()
    with store.exclusive("docs"), pytest.raises(Busy):
        await compiled({"faq.txt": FAQ}, store)


@pytest.mark.requirement("C-30")
@pytest.mark.requirement("C-33")
async def test_a_version_that_does_not_verify_is_never_switched_to() -> None:
    """Design: publish = write + verify + activate."""

    class Forgetful(FakeVersionStore):
        def node_text(self, corpus: str, version: int, path: str) -> str | None:
            return None if "doc_" in path else super().node_text(corpus, version, path)

    store = Forgetful()
    with pytest.raises(CompileFailed):
        await compiled({"faq.txt": FAQ}, store)
    assert store.active("docs") is None


async def test_what_the_corpus_remembers_is_written_before_the_switch() -> None:
    """Design, what a second compile means: one that is killed in between is repeated with the new paths."""

    class DiesAtTheSwitch(FakeVersionStore):
        def activate(self, corpus: str, version: int, *, seen: Seen = "any") -> int | None:
            raise SystemExit

    store, config = DiesAtTheSwitch(), CorpusConfig(paths=("/documents/new",))
    with pytest.raises(SystemExit):
        await compiled({"faq.txt": FAQ}, store, replace(REQUEST, config=config))
    assert (store.config("docs"), store.active("docs")) == (config, None)


async def test_a_failed_compile_changes_nothing_of_what_the_corpus_remembers() -> None:
    """Issue: nothing lost."""
    store = FakeVersionStore()
    request = replace(REQUEST, config=CorpusConfig(paths=("/documents/new",)))
    with pytest.raises(NothingToCompile):
        await compiled({"empty.txt": ""}, store, request)
    assert store.config("docs") == CorpusConfig()


async def test_a_request_made_before_another_compile_ended_is_refused() -> None:
    """Issue table, two compiles at once: the later may not bring back the paths that the first replaced."""
    store, read = FakeVersionStore(), CorpusConfig()
    newer = CorpusConfig(paths=("/documents/new",))
    await compiled({"faq.txt": FAQ}, store, replace(REQUEST, config=newer, config_read=read))
    with pytest.raises(Busy):
        await compiled({"terms.md": TERMS}, store, replace(REQUEST, config=read, config_read=read))
    assert (store.config("docs"), store.versions("docs")) == (newer, (1,))


@pytest.mark.parametrize("switches", [False, True])
async def test_a_chunk_number_of_a_version_that_is_not_the_predecessor_is_not_used_again(
    switches: bool,
) -> None:
    """Design, chunk ids: a number is never used again, after --no-activate and rollback neither."""
    store = FakeVersionStore()
    await compiled({"faq.txt": FAQ}, store)
    await compiled({"faq.txt": FAQ, "a.txt": "Once."}, store, replace(REQUEST, activate=switches))
    if switches:
        store.rollback("docs")
    await compiled({"faq.txt": FAQ, "a.txt": "Twice."}, store)
    told = {row.chunk_id: row.fingerprint for version in (2, 3) for row in store.chunk_rows("docs", version)}
    assert len(told) == len(set(told.values())) == 3


async def test_a_listener_that_fails_changes_nothing() -> None:
    """Design: losing a listener never stops the work."""

    def broken(_event: CompileEvent) -> None:
        raise RuntimeError("the window was closed")

    store = FakeVersionStore()
    await compile_corpus(REQUEST, world({"faq.txt": FAQ}, store), broken)
    assert store.active("docs") == 1


async def test_skipped_files_are_said() -> None:
    """Issue: hidden files and links out of the folder are skipped and said."""
    events: list[CompileEvent] = []
    reader = FakeSources({"faq.txt": FAQ}, skipped=(SourceReport(source=".env", verdict="hidden"),))
    await compile_corpus(REQUEST, world({}, FakeVersionStore(), reader=reader), events.append)
    assert [event.report.source for event in events if isinstance(event, SourceJudged)] == [".env", "faq.txt"]
