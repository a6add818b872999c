"""Storages and streams of an OLE file, the container of Office before 2007 and of Outlook; what is read is counted."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

import olefile

from corpus2skill.errors import SourceRefused

_BROKEN = (OSError, ValueError, IndexError, TypeError, KeyError, OverflowError)
_STREAM = 2
"""olefile's number for a stream."""


class OleFile:
    """An OLE file as a whole; its names are paths."""

    def __init__(self, data: bytes, *, max_bytes: int) -> None:
        """`max_bytes` bounds all that is read: streams may share their sectors, and claim any size.

        Raises:
            SourceRefused: `corrupt`, `hostile` (storages within storages without end).
        """
        try:
            self._ole = olefile.OleFileIO(BytesIO(data))
            self.names = tuple("/".join(path) for path in self._ole.listdir(streams=True, storages=True))
        except RecursionError as error:
            raise SourceRefused("hostile", "nesting") from error
        except _BROKEN as error:
            raise SourceRefused("corrupt") from error
        self._size = len(data)
        self._left = self._limit = max_bytes

    def stream(self, path: str) -> bytes | None:
        """Return a stream, None where there is none of that name.

        Raises:
            SourceRefused: `corrupt`, `too_large`.
        """
        try:
            if path not in self.names or self._ole.get_type(path) != _STREAM:
                return None
            self._count(self._ole.get_size(path))
            with self._ole.openstream(path) as stream:
                return stream.read()
        except _BROKEN as error:
            raise SourceRefused("corrupt") from error

    def _count(self, size: int) -> None:
        if size > self._size:
            raise SourceRefused("corrupt")
        self._left -= size
        if self._left < 0:
            raise SourceRefused("too_large", "inflated", limit=self._limit)


class OleStorage:
    """One storage of an OLE file: its root, or a folder in it."""

    def __init__(self, file: OleFile, prefix: str = "") -> None:
        self._file, self._prefix = file, prefix

    def names(self) -> Iterator[str]:
        """Yield the names of what lies directly in this storage."""
        for path in self._file.names:
            name = path[len(self._prefix) :]
            if path.startswith(self._prefix) and "/" not in name:
                yield name

    def inner(self, name: str) -> OleStorage:
        """Return a storage within this one."""
        return OleStorage(self._file, f"{self._prefix}{name}/")

    def stream(self, name: str) -> bytes | None:
        """Return a stream of this storage. Raises as `OleFile.stream`."""
        return self._file.stream(f"{self._prefix}{name}")
