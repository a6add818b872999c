"""The first line of the article, top to bottom: documents to a published tree in six stages."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from itertools import chain
from typing import TypeVar

from corpus2skill.compiler.chunk import chunk_texts
from corpus2skill.compiler.cluster import Clustered, Predecessor, check_capacity, cluster_chunks
from corpus2skill.compiler.difference import difference
from corpus2skill.compiler.extract import ExtractedSources, extract_sources, lost_sources
from corpus2skill.compiler.index_ahead import index_ahead
from corpus2skill.compiler.load_version import load_version
from corpus2skill.compiler.publish import first_damage, publish
from corpus2skill.compiler.summarize import summarize_chunks
from corpus2skill.compiler.write_tree import lexical_files, tree_files
from corpus2skill.domain.chunk import Chunk, ChunkSizes, ChunkSummary, SummarizedChunk
from corpus2skill.domain.corpus import SourceReport
from corpus2skill.domain.job import (
    CompileEvent,
    CompilePlan,
    CompileReport,
    SourceJudged,
    SpendingKnown,
    Stage,
    StageProgress,
)
from corpus2skill.domain.language import Language, majority_language
from corpus2skill.domain.money import Spending
from corpus2skill.domain.tree import Tree, TreeLimits
from corpus2skill.domain.version import Engines, Manifest, Repairs, VersionContent
from corpus2skill.errors import (
    Busy,
    ConfirmationNeeded,
    Damaged,
    NothingToCompile,
    StrictRefusal,
    VersionNotFound,
)
from corpus2skill.ports.approval import Approval, unasked
from corpus2skill.ports.clock import Clock
from corpus2skill.ports.events import CompileListener
from corpus2skill.ports.extractor import Extractor
from corpus2skill.ports.grouper import Grouper
from corpus2skill.ports.lexical_index import LexicalIndexWriter
from corpus2skill.ports.sources import SourceReader
from corpus2skill.ports.steps import Steps, at_once
from corpus2skill.ports.store import CorpusConfig, VersionStamp, VersionStore
from corpus2skill.ports.summarizer import Summarizer

_log = logging.getLogger(__name__)

Result = TypeVar("Result")

MOST_LOST = 0.2
"""Share of the active version's sources that may go without being confirmed (design: a fifth)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileRequest:
    """What is to be compiled, and how."""

    corpus: str
    title: str
    language: Language | None = None
    """None: what most of the text is in."""
    sizes: ChunkSizes = ChunkSizes()
    limits: TreeLimits = TreeLimits()
    activate: bool = True
    is_held_back: bool = False
    """Made to be switched to, but by somebody else, later: all is checked as before a switch."""
    regroup: bool = False
    """Start the groups afresh instead of keeping the predecessor's."""
    excluded: tuple[str, ...] = ()
    """Sources that were taken out of the corpus."""
    strict: bool = False
    """Publish nothing if any source was refused or any summary is a stand-in."""
    is_confirmed: bool = False
    """Switch even if more than a fifth of the sources would go."""
    config: CorpusConfig | None = None
    """What the corpus remembers once the new version is written; None leaves what it remembers."""
    config_read: CorpusConfig | None = None
    """What it remembered when this request was made: another compile may have changed it since."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompilerPorts:
    """Everything that a compile asks of the world."""

    reader: SourceReader
    extractor: Extractor
    summarizer: Summarizer
    grouper: Grouper
    index_writer: LexicalIndexWriter
    store: VersionStore
    clock: Clock
    product: str
    """The product's version, for the manifest."""
    approve: Approval = unasked
    """Asked before anything is paid."""
    spending: Callable[[], tuple[Spending, ...]] = tuple
    """What the calls so far came to."""
    steps: Steps = at_once
    """What runs the stages, one after another."""


async def compile_corpus(
    request: CompileRequest, ports: CompilerPorts, listener: CompileListener
) -> CompileReport:
    """Compile a corpus and switch to the new version in one step.

    The active version is not touched before the very last call; whatever fails leaves it as it was.

    Raises:
        Busy: the corpus is being compiled elsewhere, or was since the request was made.
        Damaged: the active version is not what was written, and `regroup` does not pass it over.
        InvalidInput: nothing to compile, unusable limits, or a loss that was not confirmed.
        CompileFailed: the result may not be published.
        ModelError: a paid call failed for good.
        WorkspaceUnusable: the disk refused.
    """
    with ports.store.exclusive(request.corpus):
        if request.config_read not in (None, ports.store.config(request.corpus)):
            raise Busy("busy", corpus=request.corpus)
        return await _Compilation(request, ports, listener).run()


async def plan_compile(
    request: CompileRequest, ports: CompilerPorts, listener: CompileListener
) -> CompilePlan:
    """Read and cut every source and say what is left to do. Nothing is paid, nothing is written.

    Raises:
        as `compile_corpus`, without what its later stages add.
    """
    return await _Compilation(request, ports, listener).plan_only()


class _Compilation:
    """One compile, between its stages."""

    def __init__(self, request: CompileRequest, ports: CompilerPorts, listener: CompileListener) -> None:
        self.request, self.ports, self.listener = request, ports, listener
        self.active = self.find_active()
        self.before = self.load_before()
        self.engines = Engines(summarizer=ports.summarizer.identity, grouper=ports.grouper.identity)

    def find_active(self) -> int | None:
        """The active version's number; None for a damaged pointer too where `regroup` starts afresh."""
        try:
            return self.ports.store.active(self.request.corpus)
        except Damaged:
            if self.request.regroup:
                return None
            raise

    def load_before(self) -> VersionContent | None:
        """The active version; None where there is none, or where it is damaged and not wanted for `regroup`."""
        if self.active is None:
            return None
        try:
            return self.load_sound(self.active)
        except Damaged:
            if self.request.regroup:
                return None
            raise

    def load_sound(self, version: int) -> VersionContent:
        """Load a version that is what was written: what was changed by hand would get new hashes in the next."""
        store, corpus = self.ports.store, self.request.corpus
        try:
            fault = first_damage(store.file_faults(corpus, version))
            if fault is None:
                return load_version(store, corpus, version)
        except VersionNotFound as error:
            raise Damaged("active_version_missing", corpus=corpus, version=version) from error
        raise Damaged("active_version_damaged", corpus=corpus, version=version, file=fault.file)

    async def run(self) -> CompileReport:
        try:
            return await self.stages()
        finally:
            self.tell(SpendingKnown(self.ports.spending()))

    async def stages(self) -> CompileReport:
        run = self.ports.steps.run
        sources = await run("extract", self.extract, lambda made: len(made.reports))
        chunks, next_number = await run(
            "chunk", _later(lambda: self.chunk(sources)), lambda made: len(made[0])
        )
        plan = self.plan(sources, chunks)
        await self.ports.approve(plan)
        language = self.language(sources)
        to_index = [chunk.text for chunk in chunks] if plan.to_summarize else []
        async with index_ahead(self.ports.index_writer, to_index):
            summarized = await self.summarize(chunks)
            clustered = await run(
                "cluster",
                lambda: self.cluster(summarized, language),
                lambda made: sum(1 for _ in made.tree.paths()),
            )
        content = self.content(sources, summarized, clustered, language, next_number)
        if self.is_unchanged(content):
            self.remember()
            return self.unchanged(content)
        manifest = await run("write", _later(lambda: self.write(content)), lambda made: made.version)
        await run("publish", _later(lambda: self.publish(manifest)), lambda _made: manifest.version)
        return self.report(manifest, content)

    async def plan_only(self) -> CompilePlan:
        sources = await self.extract()
        return self.plan(sources, self.chunk(sources)[0])

    def plan(self, sources: ExtractedSources, chunks: tuple[Chunk, ...]) -> CompilePlan:
        language = self.language(sources)
        predecessor = self.predecessor(language)
        had = set[str]() if predecessor is None else set(predecessor.tree.chunk_ids())
        known = self.known_summaries()
        waiting = {chunk.fingerprint: chunk for chunk in chunks if chunk.fingerprint not in known}
        return CompilePlan(
            reports=sources.reports,
            chunks=len(chunks),
            to_summarize=tuple(waiting.values()),
            to_group=sum(chunk.chunk_id not in had for chunk in chunks),
            is_first_grouping=predecessor is None,
            leaf_groups=0 if predecessor is None else _leaf_groups(predecessor.tree),
            depth=0 if predecessor is None else predecessor.tree.depth(),
            language=language,
        )

    # Step 1

    async def extract(self) -> ExtractedSources:
        previous = {} if self.before is None else {text.source: text for text in self.before.texts}

        def judged(report: SourceReport, done: int, total: int) -> None:
            self.tell(SourceJudged(report))
            self.tell(StageProgress("extract", done, total))

        sources = await extract_sources(
            self.ports.reader, self.ports.extractor, previous, judged, self.request.excluded
        )
        self.refuse_loss(sources)
        return sources

    def refuse_loss(self, sources: ExtractedSources) -> None:
        """Stop here, before anything is paid, where the result could not be switched to."""
        if not sources.texts:
            raise NothingToCompile("no_readable_source", looked_at=len(sources.reports))
        refused = _refused(sources.reports)
        if self.request.strict and refused:
            raise StrictRefusal("strict_refused_sources", count=len(refused), first=refused[0].source)
        lost = list(lost_sources(sources))
        had = 0 if self.before is None else len(self.before.texts)
        is_switching = self.request.activate and not self.request.is_confirmed
        if is_switching and len(lost) > had * MOST_LOST:
            raise ConfirmationNeeded("many_sources_gone", gone=len(lost), had=had, first=lost[0])

    # Step 2

    def chunk(self, sources: ExtractedSources) -> tuple[tuple[Chunk, ...], int]:
        store, corpus, active = self.ports.store, self.request.corpus, self.active
        rows = [] if active is None or self.before is None else list(store.chunk_rows(corpus, active))
        next_number = store.next_chunk_number(corpus)
        chunks = chunk_texts(sources.texts, self.request.sizes, rows, next_number)
        self.progress("chunk", len(chunks[0]), len(chunks[0]))
        check_capacity(len(chunks[0]), self.request.limits)
        return chunks

    # Step 3

    async def summarize(self, chunks: tuple[Chunk, ...]) -> tuple[SummarizedChunk, ...]:
        summarized = await summarize_chunks(
            chunks,
            self.ports.summarizer,
            self.known_summaries(),
            lambda done, total: self.progress("summarize", done, total),
        )
        stand_ins = [item for item in summarized if item.summary.is_stand_in]
        if self.request.strict and stand_ins:
            raise StrictRefusal("strict_stand_ins", count=len(stand_ins))
        return summarized

    def known_summaries(self) -> dict[str, ChunkSummary]:
        """Fingerprint to summary, of the active version, if the same summarizer made them."""
        if self.before is None or self.before.engines.summarizer != self.engines.summarizer:
            return {}
        return {
            item.chunk.fingerprint: item.summary
            for item in self.before.chunks
            if not item.summary.is_stand_in
        }

    # Step 4

    def language(self, sources: ExtractedSources) -> Language:
        if self.request.language is not None:
            return self.request.language
        return majority_language([text.extracted.text for text in sources.texts])

    async def cluster(self, chunks: tuple[SummarizedChunk, ...], language: Language) -> Clustered:
        self.progress("cluster", 0, len(chunks))
        clustered = await cluster_chunks(
            chunks,
            self.ports.grouper,
            title=self.request.title,
            limits=self.request.limits,
            language=language,
            predecessor=self.predecessor(language),
        )
        self.progress("cluster", len(chunks), len(chunks))
        return clustered

    def predecessor(self, language: Language) -> Predecessor | None:
        if self.before is None or self.request.regroup:
            return None
        is_same_engine = (self.before.engines, self.before.language) == (self.engines, language)
        return Predecessor(tree=self.before.tree, is_same_engine=is_same_engine)

    # Step 5

    def content(
        self,
        sources: ExtractedSources,
        chunks: tuple[SummarizedChunk, ...],
        clustered: Clustered,
        language: Language,
        next_number: int,
    ) -> VersionContent:
        return VersionContent(
            corpus=self.request.corpus,
            language=language,
            sizes=self.request.sizes,
            limits=self.request.limits,
            engines=self.engines,
            tree=clustered.tree,
            chunks=chunks,
            twins=clustered.twins,
            texts=sources.texts,
            reports=_with_chunk_counts(sources.reports, chunks),
            next_chunk_number=next_number,
            repairs=clustered.repairs,
        )

    def is_unchanged(self, content: VersionContent) -> bool:
        """True where a new version would hold what the active one holds; verdicts alone make no version."""
        if self.before is None or not self.request.activate:
            return False
        return _without_reports(content) == _without_reports(self.before)

    def write(self, content: VersionContent) -> Manifest:
        store, corpus = self.ports.store, self.request.corpus
        stamp = VersionStamp(
            version=store.next_version(corpus),
            predecessor=self.active,
            created_at=self.ports.clock.now().isoformat(timespec="seconds").replace("+00:00", "Z"),
            product=self.ports.product,
            title=self.request.title,
            spending=self.ports.spending(),
        )
        nodes = len(content.chunks) + sum(1 for _ in content.tree.paths())
        self.progress("write", 0, nodes)
        # One file after another: all of them at once are as large as the corpus.
        files = chain(tree_files(content), lexical_files(content, self.ports.index_writer))
        manifest = store.write(content, stamp, files)
        self.progress("write", nodes, nodes)
        return manifest

    # Step 6

    def publish(self, manifest: Manifest) -> None:
        self.progress("publish", 0, 1)
        publish(
            self.ports.store,
            self.request.corpus,
            manifest.version,
            activate=self.request.activate and not self.request.is_held_back,
            before_switching=self.remember,
        )
        self.progress("publish", 1, 1)

    def remember(self) -> None:
        """Before the switch: a compile killed in between must not be followed by one of the old paths."""
        if self.request.config is not None:
            self.ports.store.save_config(self.request.corpus, self.request.config)

    def report(self, manifest: Manifest, content: VersionContent) -> CompileReport:
        return CompileReport(
            manifest=manifest,
            reports=content.reports,
            difference=difference(
                self.before,
                content,
                numbers=(None if self.before is None else self.active, manifest.version),
            ),
            is_new=True,
            is_activated=self.request.activate and not self.request.is_held_back,
            reused_summaries=self.reused(content),
            spending=self.ports.spending(),
        )

    def unchanged(self, content: VersionContent) -> CompileReport:
        assert self.active is not None
        self.progress("publish", 1, 1)
        return CompileReport(
            manifest=self.ports.store.manifest(self.request.corpus, self.active),
            reports=content.reports,
            difference=difference(self.before, content, numbers=(self.active, self.active)),
            is_new=False,
            is_activated=False,
            reused_summaries=self.reused(content),
            spending=self.ports.spending(),
        )

    def reused(self, content: VersionContent) -> int:
        known = self.known_summaries()
        return sum(item.chunk.fingerprint in known for item in content.chunks)

    # Telling

    def progress(self, stage: Stage, done: int, total: int) -> None:
        self.tell(StageProgress(stage, done, total))

    def tell(self, event: CompileEvent) -> None:
        """Tell the listener; its failure is its own."""
        try:
            self.listener(event)
        except Exception:  # noqa: BLE001 - whatever a listener does, the compile goes on
            _log.warning("a compile listener failed", exc_info=True)


def _later(work: Callable[[], Result]) -> Callable[[], Awaitable[Result]]:
    """The same as a step that could be waited for."""

    async def step() -> Result:
        return work()

    return step


def _refused(reports: tuple[SourceReport, ...]) -> list[SourceReport]:
    harmless = {
        "accepted",
        "removed",
        "renamed",
        "hidden",
        "link",
        "duplicate",
        "special",
        "archive",
        "excluded",
    }
    return [report for report in reports if report.verdict not in harmless]


def _with_chunk_counts(
    reports: tuple[SourceReport, ...], chunks: tuple[SummarizedChunk, ...]
) -> tuple[SourceReport, ...]:
    counts: dict[str, int] = {}
    for item in chunks:
        counts[item.chunk.source] = counts.get(item.chunk.source, 0) + 1
    return tuple(replace(report, chunks=counts.get(report.source, 0)) for report in reports)


def _leaf_groups(tree: Tree) -> int:
    return sum(1 for _, group in tree.paths() if group is not None and group.member_ids)


def _without_reports(content: VersionContent) -> VersionContent:
    texts = tuple(replace(text, refusal=None) for text in content.texts)
    return replace(content, reports=(), texts=texts, repairs=Repairs())
