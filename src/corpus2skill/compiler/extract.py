"""Step 1: read every source, and judge it before anything that costs.

Some are read ahead, judged is each in its turn. A refused source never stops the others. One that was in the predecessor keeps its last good text and is
named; one that is gone from a folder we could list was removed by its owner.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from corpus2skill.compiler.read_ahead import ReadAhead
from corpus2skill.domain.corpus import SourceFile, SourceReport, SourceText, source_order
from corpus2skill.domain.source_names import holding
from corpus2skill.errors import SourceRefused
from corpus2skill.ports.extractor import Extractor
from corpus2skill.ports.sources import SourceReader


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedSources:
    """The texts that go on, in the order of their names, and a report for everything that was looked at."""

    texts: tuple[SourceText, ...]
    reports: tuple[SourceReport, ...]


async def extract_sources(
    reader: SourceReader,
    extractor: Extractor,
    previous: Mapping[str, SourceText],
    judged: Callable[[SourceReport, int, int], None],
    excluded: Collection[str] = (),
) -> ExtractedSources:
    """Return the texts of all sources; `judged(report, done, total)` is told of each as it is known.

    What `excluded` names, and what lies beneath it, is passed over as if it were not there. Of equal documents
    the first is kept: a file before what is attached to a mail, that before what lies in an archive.
    """
    found = sorted(reader.find(), key=_reading_order)
    desk = _Desk(previous=previous, judged=judged, total=len(found), excluded=frozenset(excluded))
    try:
        for entry in found:
            if isinstance(entry, SourceReport):
                await desk.line.put(partial(desk.note, entry))
            else:
                await desk.take(entry, reader, extractor)
        await desk.line.settle()
    finally:
        await desk.line.abandon()
    desk.look_for_missing(reader)
    texts = sorted(desk.texts, key=lambda text: source_order(text.source))
    return ExtractedSources(texts=tuple(texts), reports=tuple(desk.reports))


def _reading_order(entry: str | SourceReport) -> int:
    """Sorting is stable: among files, mails and archives the reader's own order stays."""
    return 0 if isinstance(entry, SourceReport) else holding(entry)


@dataclass(slots=True, kw_only=True)
class _Desk:
    """What has been read so far."""

    previous: Mapping[str, SourceText]
    judged: Callable[[SourceReport, int, int], None]
    total: int
    excluded: frozenset[str]
    texts: list[SourceText] = field(default_factory=list[SourceText])
    reports: list[SourceReport] = field(default_factory=list[SourceReport])
    seen: dict[str, str] = field(default_factory=dict[str, str])
    """SHA-256 to the first source that had it."""
    found: set[str] = field(default_factory=set[str])
    """Names of the sources and of the documents within them."""
    unopened: set[str] = field(default_factory=set[str])
    """Sources that could not be read, or not be looked into to the end."""
    line: ReadAhead = field(default_factory=ReadAhead)
    """What waits for its turn to be judged."""

    async def take(self, source: str, reader: SourceReader, extractor: Extractor) -> None:
        """Read one source with all the documents within it; a fault becomes its report."""
        self.found.add(source)
        if self.is_excluded(source):
            await self.line.put(partial(self.note, _excluded(source)))
            return
        try:
            file = reader.read(source)
            if await self.is_duplicate(file):
                return
            is_archive = await self.take_members(file, extractor)
        except SourceRefused as refusal:
            await self.line.put(partial(self.leave_unopened, source, refusal))
            return
        if is_archive:
            await self.line.put(partial(self.seen.setdefault, file.sha256, source), key=file.sha256)
        else:
            await self.take_file(file, extractor)

    async def take_members(self, file: SourceFile, extractor: Extractor) -> bool:
        """Take the documents within `file`; return whether it is an archive, with no text beside them."""
        is_archive = False
        async for member in extractor.members(file):
            if self.is_excluded(member.source):
                self.found.add(member.source)
                await self.line.put(partial(self.note, _excluded(member.source)))
            elif isinstance(member, SourceFile):
                self.found.add(member.source)
                if not await self.is_duplicate(member):
                    await self.take_file(member, extractor)
            elif member.source == file.source:
                is_archive = True
                await self.line.put(partial(self.note, member))
            else:
                self.found.add(member.source)
                await self.line.put(partial(self.judge, member))
        return is_archive

    async def take_file(self, file: SourceFile, extractor: Extractor) -> None:
        """Begin to extract one document."""
        text = asyncio.create_task(self.text_of(file, extractor))
        finish = partial(self.finish, file, text)
        await self.line.put(finish, work=text, key=file.sha256, size=len(file.data))

    def finish(self, file: SourceFile, text: asyncio.Task[SourceText]) -> None:
        """Judge a document that has been extracted."""
        try:
            extracted = text.result()
        except SourceRefused as refusal:
            self.leave_unopened(file.source, refusal)
            return
        self.seen[file.sha256] = file.source
        self.accept(extracted)

    def leave_unopened(self, source: str, refusal: SourceRefused) -> None:
        self.unopened.add(source)
        self.refuse(source, refusal)

    async def is_duplicate(self, file: SourceFile) -> bool:
        """True, and said, where an earlier source had the same bytes."""
        if self.line.is_under_way(file.sha256):
            await self.line.settle()
        twin = self.seen.get(file.sha256)
        if twin is not None:
            await self.line.put(partial(self.note, _duplicate(file, twin)))
        return twin is not None

    async def text_of(self, file: SourceFile, extractor: Extractor) -> SourceText:
        """Extract, or take over what the same extractor made of the same bytes before."""
        known = self.previous.get(file.source)
        if known is not None and (known.sha256, known.extractor) == (file.sha256, extractor.identity):
            return replace(known, refusal=None)
        return SourceText(
            source=file.source,
            sha256=file.sha256,
            extractor=extractor.identity,
            extracted=await extractor.extract(file),
        )

    def accept(self, text: SourceText) -> None:
        self.texts.append(text)
        self.note(
            SourceReport(
                source=text.source,
                verdict="accepted",
                sha256=text.sha256,
                characters=len(text.extracted.text),
                notices=text.extracted.notices,
                extractor=text.extractor,
            )
        )

    def refuse(self, source: str, refusal: SourceRefused) -> None:
        self.judge(
            SourceReport(
                source=source,
                verdict=refusal.verdict,  # type: ignore[arg-type]
                detail=refusal.detail,
                values=tuple(sorted(refusal.values.items())),  # type: ignore[arg-type]
            )
        )

    def judge(self, report: SourceReport) -> None:
        """Note a refusal, or keep the last good text of what is refused."""
        last_good = self.previous.get(report.source)
        if last_good is None:
            self.note(report)
        else:
            self.keep(last_good, report)

    def keep(self, last_good: SourceText, refusal: SourceReport) -> None:
        self.texts.append(replace(last_good, refusal=refusal))
        self.note(
            SourceReport(
                source=last_good.source,
                verdict="kept",
                sha256=last_good.sha256,
                detail=refusal.verdict,
                values=refusal.values,
                characters=len(last_good.extracted.text),
                extractor=last_good.extractor,
            )
        )

    def look_for_missing(self, reader: SourceReader) -> None:
        """Judge what the predecessor had and today's reading did not find."""
        for source, text in self.previous.items():
            if source in self.found:
                continue
            gone = SourceReport(source=source, verdict="removed", sha256=text.sha256)
            if self.is_excluded(source):
                self.note(_excluded(source))
            elif not reader.covers(source) or self.is_within_unopened(source):
                self.keep(text, replace(gone, verdict="unreadable"))
            elif (name := self.seen.get(text.sha256)) is not None:
                self.note(replace(gone, verdict="renamed", values=(("renamed_to", name),)))
            else:
                self.note(gone)

    def is_excluded(self, source: str) -> bool:
        """True for a name that was taken out, and for all beneath it: a folder, an archive, a mail."""
        parts = source.split("/")
        return any("/".join(parts[:end]) in self.excluded for end in range(1, len(parts) + 1))

    def is_within_unopened(self, source: str) -> bool:
        """True where the archive or mail that `source` was in is there and could not be looked into."""
        return any(source.startswith(f"{container}/") for container in self.unopened)

    def note(self, report: SourceReport) -> None:
        self.reports.append(report)
        self.total = max(self.total, len(self.reports))
        self.judged(report, len(self.reports), self.total)


def _excluded(source: str) -> SourceReport:
    return SourceReport(source=source, verdict="excluded")


def _duplicate(file: SourceFile, twin: str) -> SourceReport:
    return SourceReport(
        source=file.source, verdict="duplicate", sha256=file.sha256, values=(("same_as", twin),)
    )


def lost_sources(sources: ExtractedSources) -> Iterator[str]:
    """Names of the sources that are gone, with their content."""
    for report in sources.reports:
        if report.verdict == "removed":
            yield report.source
