"""Extracted texts in a workspace's folder, and an extractor that looks there first."""

from __future__ import annotations

import hashlib
import logging
import secrets
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from corpus2skill.adapters.store import durable
from corpus2skill.adapters.store.encoding import decode, encode
from corpus2skill.domain.corpus import ExtractedText, SourceFile, SourceReport
from corpus2skill.errors import SourceRefused
from corpus2skill.ports.extractor import Extractor
from corpus2skill.ports.texts import TextStore

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    text: ExtractedText | None = None
    verdict: str = ""
    detail: str | None = None
    values: tuple[tuple[str, str | int | float], ...] = ()


class FolderTexts:
    """`ports.texts.TextStore` below `texts/`.

    Nothing waits for the disk: a file says its own SHA-256 first, and one that was cut is as good as none.
    """

    def __init__(self, workspace: Path, limits: str) -> None:
        """`limits` spells the limits under which texts are read: under others they are read again."""
        self._root = workspace / "texts"
        self._limits = limits

    def find(self, file: SourceFile, extractor: str) -> ExtractedText | SourceRefused | None:
        return self.find_by(file.source, file.sha256, extractor)

    def find_by(self, source: str, sha256: str, extractor: str) -> ExtractedText | SourceRefused | None:
        try:
            written = self._place(source, sha256, extractor).read_bytes()
        except OSError:
            return None
        digest, _, data = written.partition(b"\n")
        if hashlib.sha256(data).hexdigest().encode("ascii") != digest:
            return None
        try:
            kept = decode(data, _Kept)
        except ValueError:
            return None
        return kept.text or SourceRefused(kept.verdict, kept.detail, **dict(kept.values))

    def keep(self, file: SourceFile, extractor: str, found: ExtractedText | SourceRefused) -> None:
        data = encode(_kept(found))
        place = self._place(file.source, file.sha256, extractor)
        beside = place.with_name(f".{place.name}-{secrets.token_hex(4)}")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            try:
                beside.write_bytes(hashlib.sha256(data).hexdigest().encode("ascii") + b"\n" + data)
                beside.replace(place)
            finally:
                beside.unlink(missing_ok=True)
        except OSError:
            _log.warning("an extracted text was not kept: %s", place, exc_info=True)

    def forget(self, sha256: str) -> None:
        with durable.usable(self._root):
            shutil.rmtree(self._root / sha256[:2] / sha256, ignore_errors=True)

    def _place(self, source: str, sha256: str, extractor: str) -> Path:
        suffix = PurePosixPath(source).suffix.lower()
        key = hashlib.sha256(repr((suffix, extractor, self._limits)).encode("utf-8", "surrogatepass"))
        return self._root / sha256[:2] / sha256 / f"{key.hexdigest()[:32]}.json"


class CachedExtractor:
    """`ports.extractor.Extractor` that asks another only for what no one has read yet.

    Its identity is the other's, because so are its texts. What a document was refused for is known as well, so
    that one which breaks its reader breaks it once.
    """

    def __init__(self, extractor: Extractor, texts: TextStore, *, is_keeping: bool) -> None:
        """Without `is_keeping` it only looks: whoever reads what is no upload leaves no text behind."""
        self._extractor, self._texts, self._is_keeping = extractor, texts, is_keeping

    @property
    def identity(self) -> str:
        return self._extractor.identity

    async def extract(self, file: SourceFile) -> ExtractedText:
        found = self._texts.find(file, self.identity)
        if found is None:
            found = await self._read(file)
            if self._is_keeping:
                self._texts.keep(file, self.identity, found)
        if isinstance(found, SourceRefused):
            raise found
        return found

    def members(self, file: SourceFile) -> AsyncIterator[SourceFile | SourceReport]:
        return self._extractor.members(file)

    async def _read(self, file: SourceFile) -> ExtractedText | SourceRefused:
        try:
            return await self._extractor.extract(file)
        except SourceRefused as refusal:
            return refusal


def _kept(found: ExtractedText | SourceRefused) -> _Kept:
    if isinstance(found, ExtractedText):
        return _Kept(text=found)
    values = tuple(
        (name, value) for name, value in sorted(found.values.items()) if isinstance(value, str | int | float)
    )
    return _Kept(verdict=found.verdict, detail=found.detail, values=values)
