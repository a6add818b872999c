"""The worker's duty: look into what was handed in, and tell what it is."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from corpus2skill.application.server.corpora import corpus_sizes
from corpus2skill.application.server.documents import drop_unused, events_of
from corpus2skill.application.server.resting import Rest
from corpus2skill.application.server_wiring import Server, caching_extractor, upload_files
from corpus2skill.application.wiring import extractor
from corpus2skill.compiler.chunk import cut
from corpus2skill.domain.chunk import ChunkSizes
from corpus2skill.domain.corpus import ExtractedText, SourceFile, SourceReport
from corpus2skill.domain.event_log import NewEvent, documents_topic
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.upload import Judgement, Upload, UploadChange
from corpus2skill.errors import Corpus2SkillError, SourceRefused
from corpus2skill.ports.extractor import Extractor

_log = logging.getLogger(__name__)

_READ_AT_ONCE = 4
_TAKEN_AT_ONCE = 64
"""Documents that are taken up, and whose verdicts are written, together: each writing waits for the disk."""
_LOOK_AGAIN_SECONDS = 0.4
_LEAST_SECONDS = 0.1
"""Between two writings: SQLite has one pen, and who hands in files wants it too."""
_REST_SECONDS = 2.0
"""After a fault of ours, of the disk or of the database."""
_MOST_TRIES = 3
"""A document during which the whole worker died so often is refused."""


async def inspect_uploads(server: Server, stop: asyncio.Event) -> None:
    """Judge every received upload until `stop` is set; a few at once, tenants in turn.

    What is under way when it stops, or when its process dies, is taken up again.
    """
    desk, rest = _Desk(server=server, reading=extractor(server.settings)), Rest(server, _LOOK_AGAIN_SECONDS)
    try:
        while not stop.is_set():
            rest.look()
            try:
                await desk.turn()
            except Corpus2SkillError:
                _log.warning("uploads cannot be looked into now", exc_info=True)
                await _pause(stop, (), _REST_SECONDS)
            await _pause(stop, (), _LEAST_SECONDS)
            if desk.under_way:
                await _pause(stop, tuple(desk.under_way.values()), _LOOK_AGAIN_SECONDS)
            elif not desk.judged:
                await rest.until_written(stop)
    finally:
        await desk.abandon()


async def inspect_all(server: Server) -> None:
    """Judge what is waiting, and return when nothing is."""
    desk = _Desk(server=server, reading=extractor(server.settings))
    try:
        await desk.turn()
        while desk.under_way:
            await asyncio.wait(desk.under_way.values(), return_when=asyncio.FIRST_COMPLETED)
            await desk.turn()
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
    """What is under way, whose turn it is, and what is still to be written down."""

    server: Server
    reading: Extractor
    slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_READ_AT_ONCE))
    under_way: dict[str, asyncio.Task[None]] = field(default_factory=dict[str, asyncio.Task[None]])
    judged: list[tuple[Upload, Judgement]] = field(default_factory=list[tuple[Upload, Judgement]])
    served: Counter[str] = field(default_factory=Counter[str])
    """How many documents of each tenant are under way."""
    tidied: set[str] = field(default_factory=set[str])
    """Tenants after whose dead receptions was looked."""

    async def turn(self) -> None:
        """Write down what was found, and take up as many more as there is room for."""
        if self.judged:
            await self._write_down()
        if len(self.under_way) > _TAKEN_AT_ONCE // 2:
            return
        waiting = await asyncio.to_thread(
            self.server.uploads.waiting, "received", _TAKEN_AT_ONCE, passing=tuple(self.under_way)
        )
        taken = self._in_turn(waiting, _TAKEN_AT_ONCE - len(self.under_way))
        if taken:
            await asyncio.to_thread(self.server.uploads.take_up, taken)
        for tenant in {upload.tenant for upload in taken} - self.tidied:
            self.tidied.add(tenant)
            await asyncio.to_thread(upload_files(self.server, tenant).tidy)
        for upload in taken:
            self.served[upload.tenant] += 1
            self.under_way[upload.document] = asyncio.create_task(self._inspect(upload))

    async def abandon(self) -> None:
        tasks = tuple(self.under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self.judged:
            with suppress(Corpus2SkillError):
                await self._write_down()

    def _in_turn(self, waiting: Sequence[Upload], room: int) -> list[Upload]:
        """Choose one after another from the tenant with the fewest under way.

        Of those during which a worker may have died one at a time is taken: the others would be blamed for it.
        """
        by_tenant: dict[str, deque[Upload]] = {}
        for upload in waiting:
            if not upload.tries:
                by_tenant.setdefault(upload.tenant, deque()).append(upload)
        counts, taken = self.served.copy(), [upload for upload in waiting if upload.tries][:1]
        while by_tenant and len(taken) < room:
            tenant = min(by_tenant, key=counts.__getitem__)
            taken.append(by_tenant[tenant].popleft())
            counts[tenant] += 1
            if not by_tenant[tenant]:
                del by_tenant[tenant]
        return taken

    async def _inspect(self, upload: Upload) -> None:
        try:
            async with self.slots:
                self.judged.append((upload, await _judged(self.server, self.reading, upload)))
        except Corpus2SkillError:
            _log.warning("an upload cannot be looked into now: %s", upload.document, exc_info=True)
            await asyncio.sleep(_REST_SECONDS)
        except Exception:  # noqa: BLE001 - a fault of ours: tried again, and refused in the end
            _log.exception("looking into an upload failed: %s", upload.document)
            await asyncio.sleep(_REST_SECONDS)
        finally:
            self.served[upload.tenant] -= 1
            if not self._is_judged(upload):
                del self.under_way[upload.document]

    def _is_judged(self, upload: Upload) -> bool:
        return any(known.document == upload.document for known, _ in self.judged)

    async def _write_down(self) -> None:
        judged = tuple(self.judged)
        await asyncio.to_thread(_told, self.server, judged)
        del self.judged[: len(judged)]
        for upload, _ in judged:
            self.under_way.pop(upload.document, None)


async def _judged(server: Server, reading: Extractor, upload: Upload) -> Judgement:
    if upload.tries >= _MOST_TRIES:
        refusal = SourceRefused("hostile", "crash", reason="worker")
        return Judgement(report=_refused(upload.name, refusal))
    keeping = caching_extractor(server, upload.tenant, reading, is_keeping=True)
    sizes = await asyncio.to_thread(corpus_sizes, server, upload.tenant, upload.corpus)
    return await judged(server, keeping, upload, sizes)


def _told(server: Server, judged: Sequence[tuple[Upload, Judgement]]) -> None:
    changes = server.uploads.judge(judged, moment_of(server.clock.now()))
    events: dict[tuple[str, str], list[NewEvent]] = {}
    for (upload, judgement), change in zip(judged, changes, strict=True):
        if change is None:  # other bytes have come, or it was taken out: what was read is of no use
            _forget_read(server, upload, judgement)
            continue
        topic = events.setdefault((upload.tenant, documents_topic(upload.corpus)), [])
        topic += events_of("document.judged", change)
    server.events.append_all([(tenant, topic, told) for (tenant, topic), told in events.items()])


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
