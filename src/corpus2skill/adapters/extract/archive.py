"""The entries of a ZIP archive, one at a time, inflated within what is left of a bound."""

from __future__ import annotations

import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from corpus2skill.adapters.extract.formats import holds_pictures
from corpus2skill.adapters.extract.member_names import entry_name, safe_name
from corpus2skill.adapters.extract.zip_parts import opened
from corpus2skill.domain.source_names import is_hidden
from corpus2skill.errors import SourceRefused

_STEP = 1_000_000
_IS_ENCRYPTED = 0x1
_BROKEN = (zipfile.BadZipFile, OSError, EOFError, ValueError, zlib.error, IndexError, RuntimeError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One document of an archive, or why it cannot be taken."""

    name: str
    data: bytes = b""
    refusal: SourceRefused | None = None
    is_link: bool = False


class Budget:
    """What may still be taken out of one container, those within it included."""

    def __init__(self, *, members: int, max_bytes: int, max_member_bytes: int) -> None:
        self._members = self._members_left = members
        self._bytes = self._bytes_left = max_bytes
        self._member_bytes = max_member_bytes

    def require_members(self, count: int) -> None:
        """Raises: SourceRefused (`too_large`) where `count` more documents are too many."""
        self._members_left -= count
        if self._members_left < 0:
            raise SourceRefused("too_large", "members", limit=self._members)

    def take(self, name: str, length: int, so_far: int) -> None:
        """Count `length` bytes more of the document `name`, that has `so_far` of them.

        Raises:
            ContainerTooLarge: the container is used up.
            SourceRefused: `too_large`; the one document is.
        """
        self._bytes_left -= length
        if self._bytes_left < 0:
            raise ContainerTooLarge("too_large", "archive_bytes", limit=self._bytes)
        if so_far + length > self._member_bytes:
            detail = "inflated_pictures" if holds_pictures(name) else "inflated"
            raise SourceRefused("too_large", detail, limit=self._member_bytes)


class ContainerTooLarge(SourceRefused):
    """Not one document but the container as a whole is over its bound."""


def entries(data: bytes, budget: Budget) -> Iterator[Entry]:
    """Yield the documents of a ZIP archive in the order of the archive.

    Folders and what programs leave behind are passed over.

    Raises:
        SourceRefused: the archive as a whole is `corrupt` or `too_large`.
    """
    with opened(data) as archive:
        named = [(entry, safe_name(entry_name(entry))) for entry in archive.infolist()]
        wanted = [(entry, name) for entry, name in named if _is_wanted(entry, name)]
        budget.require_members(len(wanted))
        for entry, name in wanted:
            if stat.S_ISLNK(entry.external_attr >> 16):
                yield Entry(name=name, is_link=True)
                continue
            try:
                inflated = _inflated(archive, entry, budget)
            except ContainerTooLarge:
                raise
            except SourceRefused as refusal:
                yield Entry(name=name, refusal=refusal)
            else:
                yield Entry(name=name, data=inflated)


def _is_wanted(entry: zipfile.ZipInfo, name: str) -> bool:
    is_folder = entry.filename.endswith("/") or entry.orig_filename.endswith(("/", "\\"))
    return bool(name) and not is_folder and not any(map(is_hidden, name.split("/")))


def _inflated(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, budget: Budget) -> bytes:
    if entry.flag_bits & _IS_ENCRYPTED:
        raise SourceRefused("encrypted")
    pieces: list[bytes] = []
    length = 0
    try:
        with archive.open(entry) as part:
            while piece := part.read(_STEP):
                budget.take(entry.filename, len(piece), length)
                length += len(piece)
                pieces.append(piece)
    except NotImplementedError as error:
        raise SourceRefused("unsupported", "compression") from error
    except _BROKEN as error:
        raise SourceRefused("corrupt", "archive") from error
    return b"".join(pieces)
