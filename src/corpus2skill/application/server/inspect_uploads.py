"""The worker's duty: look into what was handed in, and tell what it is."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from corpus2skill.application.server.corpora import corpus_sizes
from corpus2skill.application.server.documents import drop_unused, tell
from corpus2skill.application.server.purge_uploads import purge_waiting
from corpus2skill.application.server_wiring import Server, caching_extractor, upload_files
from corpus2skill.application.wiring import extractor
from corpus2skill.compiler.chunk import cut
from corpus2skill.domain.chunk import ChunkSizes
from corpus2skill.domain.corpus import ExtractedText, SourceFile, SourceReport
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.upload import Judgement, Upload, UploadChange
from corpus2skill.errors import Corpus2SkillError, SourceRefused
from corpus2skill.ports.extractor import Extractor

_log = logging.getLogger(__name__)

_AT_ONCE = 4
_LOOK_AGAIN_SECONDS = 0.25
_REST_SECONDS = 2.0
"""After a fault of ours, of the disk or of the database."""
_MOST_TRIES = 3
"""A document during which the whole worker died so often is refused."""
_PURGE_EVERY = 8
"""Looks for documents to purge are rarer by so much."""


async def inspect_uploads(server: Server, stop: asyncio.Event) -> None:
    """Judge every received upload until `stop` is set; a few at once, tenants in turn.

    What is under way when it stops, or when its process dies, is taken up again.
    """
    desk = _Desk(server=server, reading=extractor(server.settings))
    looks = 0
    try:
        while not stop.is_set():
            try:
                await desk.fill()
                if looks % _PURGE_EVERY == 0:
                    await asyncio.to_thread(purge_waiting, server)
            except Corpus2SkillError:
                _log.warning("uploads cannot be looked into now", exc_info=True)
                await _pause(stop, (), _REST_SECONDS)
            looks += 1
            await _pause(stop, tuple(desk.under_way.values()), _LOOK_AGAIN_SECONDS)
    finally:
        await desk.abandon()


async def inspect_all(server: Server) -> None:
    """Judge what is waiting, and return when nothing is."""
    desk = _Desk(server=server, reading=extractor(server.settings))
    try:
        await desk.fill()
        while desk.under_way:
            await asyncio.wait(desk.under_way.values(), return_when=asyncio.FIRST_COMPLETED)
            await desk.fill()
    finally:
        await desk.abandon()


async def _pause(stop: asyncio.Event, tasks: Sequence[asyncio.Task[None]], seconds: float) -> None:
    """Wait until something has been done, it is to stop, or the time is over."""
    stopping = asyncio.ensure_future(stop.wait())
    try:
        await asyncio.wait({stopping, *tasks}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        stopping.cancel()


@dataclass(slots=True, kw_only=True)
class _Desk:
    """What is under way, and whose turn it is."""

    server: Server
    reading: Extractor
    under_way: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, asyncio.Task[None]])
    busy: Counter[str] = field(default_factory=Counter[str])
    """Documents under way, by tenant."""
    served: dict[str, int] = field(default_factory=dict[str, int])
    """When each tenant had its last turn."""
    turns: int = 0

    async def fill(self) -> None:
        """Begin as many as there is room for."""
        while len(self.under_way) < _AT_ONCE:
            waiting = await asyncio.to_thread(
                self.server.uploads.waiting, "received", _AT_ONCE, passing=tuple(self.under_way)
            )
            if not waiting:
                return
            self._begin(min(waiting, key=self._turn))

    async def abandon(self) -> None:
        tasks = tuple(self.under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _turn(self, upload: Upload) -> tuple[int, int]:
        """First the tenant with the fewest under way, then the one that has waited longest."""
        return self.busy[upload.tenant], self.served.get(upload.tenant, 0)

    def _begin(self, upload: Upload) -> None:
        self.turns += 1
        self.served[upload.tenant] = self.turns
        self.busy[upload.tenant] += 1
        if self.turns == 1 or self.busy[upload.tenant] == 1:
            with suppress(Corpus2SkillError):
                upload_files(self.server, upload.tenant).tidy()
        task = asyncio.create_task(self._inspect(upload))
        self.under_way[upload.document] = task

    async def _inspect(self, upload: Upload) -> None:
        try:
            await _inspect(self.server, self.reading, upload)
        except Corpus2SkillError:
            _log.warning("an upload cannot be looked into now: %s", upload.document, exc_info=True)
            await asyncio.sleep(_REST_SECONDS)
        except Exception:  # noqa: BLE001 - a fault of ours: tried again, and refused in the end
            _log.exception("looking into an upload failed: %s", upload.document)
            await asyncio.sleep(_REST_SECONDS)
        finally:
            self.busy[upload.tenant] -= 1
            self.under_way.pop(upload.document, None)


async def _inspect(server: Server, reading: Extractor, upload: Upload) -> None:
    tries = await asyncio.to_thread(server.uploads.take_up, upload.tenant, upload.document)
    if tries > _MOST_TRIES:
        judgement = Judgement(
            report=_refused(upload.name, SourceRefused("hostile", "crash", reason="worker"))
        )
    else:
        keeping = caching_extractor(server, upload.tenant, reading, is_keeping=True)
        sizes = corpus_sizes(server, upload.tenant, upload.corpus)
        judgement = await judged(server, keeping, upload, sizes)
    await asyncio.to_thread(_told, server, upload, judgement)


def _told(server: Server, upload: Upload, judgement: Judgement) -> None:
    now = moment_of(server.clock.now())
    change = server.uploads.judge(upload.tenant, upload.document, upload.revision, judgement, now)
    if change is None:  # other bytes have come, or it was taken out: what was read is of no use
        _forget_read(server, upload, judgement)
    else:
        tell(server, upload.tenant, upload.corpus, "document.judged", change)


def _forget_read(server: Server, upload: Upload, judgement: Judgement) -> None:
    """Remove the texts of a document that went while it was read."""
    read = (upload.sha256, *(member.sha256 for member in judgement.members))
    dropped = tuple(digest for digest in read if digest is not None)
    with upload_files(server, upload.tenant).changing():
        drop_unused(server, upload.tenant, UploadChange(uploads=(), dropped=dropped))


async def judged(server: Server, reading: Extractor, upload: Upload, sizes: ChunkSizes) -> Judgement:
    """Look into one upload: its text, and the documents within it."""
    data = (
        None
        if upload.sha256 is None
        else await asyncio.to_thread(upload_files(server, upload.tenant).read, upload.sha256)
    )
    if data is None or upload.sha256 is None:
        return Judgement(report=_refused(upload.name, SourceRefused("vanished")))
    file = SourceFile(source=upload.name, data=data, sha256=upload.sha256)
    return await _Inspection(reading=reading, sizes=sizes).of(file)


@dataclass(slots=True, kw_only=True)
class _Inspection:
    """Of one file with all that is in it."""

    reading: Extractor
    sizes: ChunkSizes
    pages: int = 0
    members: list[SourceReport] = field(default_factory=list[SourceReport])

    async def of(self, file: SourceFile) -> Judgement:
        own: SourceReport | None = None
        try:
            async for member in self.reading.members(file):
                if isinstance(member, SourceFile):
                    self.members.append(await self._report(member))
                elif member.source == file.source:
                    own = _of_archive(member, file, self.members)
                else:
                    self.members.append(member)
        except SourceRefused as refusal:
            own = _refused(file.source, refusal, file.sha256)
        report = own or await self._report(file, counts_pages=True)
        return Judgement(report=report, pages=self.pages, members=tuple(self.members))

    async def _report(self, file: SourceFile, *, counts_pages: bool = False) -> SourceReport:
        try:
            text = await self.reading.extract(file)
        except SourceRefused as refusal:
            return _refused(file.source, refusal, file.sha256)
        if counts_pages:
            self.pages = len(text.pages)
        return SourceReport(
            source=file.source,
            verdict="accepted",
            sha256=file.sha256,
            characters=len(text.text),
            chunks=await asyncio.to_thread(_count, text, self.sizes),
            notices=text.notices,
            extractor=self.reading.identity,
        )


def _count(text: ExtractedText, sizes: ChunkSizes) -> int:
    return len(cut(text, sizes))


def _of_archive(report: SourceReport, file: SourceFile, members: Sequence[SourceReport]) -> SourceReport:
    """An archive in which nothing can be read is as empty as a document without a word."""
    if any(member.verdict == "accepted" for member in members):
        return report
    return _refused(file.source, SourceRefused("empty"), file.sha256)


def _refused(source: str, refusal: SourceRefused, sha256: str | None = None) -> SourceReport:
    return SourceReport(
        source=source,
        verdict=refusal.verdict,  # type: ignore[arg-type]
        sha256=sha256,
        detail=refusal.detail,
        values=tuple(sorted(refusal.values.items())),  # type: ignore[arg-type]
    )
