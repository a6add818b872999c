"""Source documents held in memory."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator, Iterator, Mapping

from corpus2skill.domain.corpus import ExtractedText, SourceFile, SourceReport
from corpus2skill.errors import SourceRefused


class FakeSources:
    """Sources by name; `refusals` maps names to the verdict that reading them gives."""

    def __init__(
        self,
        texts: Mapping[str, str],
        *,
        refusals: Mapping[str, str] | None = None,
        skipped: tuple[SourceReport, ...] = (),
        is_listed: bool = True,
    ) -> None:
        self.texts = dict(texts)
        self.refusals = dict(refusals or {})
        self.skipped = skipped
        self.is_listed = is_listed
        """False: the folder cannot be listed, so nothing that is missing was removed."""

    def find(self) -> Iterator[str | SourceReport]:
        yield from self.skipped
        yield from sorted(self.texts.keys() | self.refusals.keys())

    def read(self, source: str) -> SourceFile:
        if (verdict := self.refusals.get(source)) in {"unreadable", "vanished", "too_large"}:
            raise SourceRefused(str(verdict), file=source)
        data = self.texts.get(source, f"refused: {source}").encode()
        return SourceFile(source=source, data=data, sha256=hashlib.sha256(data).hexdigest())

    def covers(self, source: str) -> bool:
        return self.is_listed


BOX = "箱:"
"""A text that begins so is an archive of one member a line, `name=text`; `name!verdict` is one it refuses."""


class FakeExtractor:
    """Takes the bytes as UTF-8; counts what it read; refuses what `refusals` names; opens boxes (`BOX`)."""

    identity = "fake-extract-1"

    def __init__(self, refusals: Mapping[str, str] | None = None) -> None:
        self.refusals = dict(refusals or {})
        self.read: list[str] = []

    async def extract(self, file: SourceFile) -> ExtractedText:
        self.read.append(file.source)
        text = file.data.decode()
        if (verdict := self.refusals.get(file.source)) is not None:
            raise SourceRefused(verdict)
        if not text.strip():
            raise SourceRefused("empty")
        return ExtractedText(text=text)

    async def members(self, file: SourceFile) -> AsyncIterator[SourceFile | SourceReport]:
        text = file.data.decode()
        if not text.startswith(BOX):
            return
        for line in text.removeprefix(BOX).split("\n"):
            name, _, inner = line.partition("=")
            if not inner:
                name, _, verdict = line.partition("!")
                yield SourceReport(source=f"{file.source}/{name}", verdict=verdict)  # type: ignore[arg-type]
                continue
            data = inner.encode()
            sha256 = hashlib.sha256(data).hexdigest()
            yield SourceFile(source=f"{file.source}/{name}", data=data, sha256=sha256)
        if (verdict := self.refusals.get(file.source)) is not None:
            raise SourceRefused(verdict)
        yield SourceReport(source=file.source, verdict="archive")
