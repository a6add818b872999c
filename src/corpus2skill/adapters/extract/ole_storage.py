"""Storages and streams of an OLE file, the container of Office before 2007 and of Outlook; what is read is counted."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO

import olefile

from corpus2skill.errors import SourceRefused

_BROKEN = (OSError, ValueError, IndexError, TypeError, KeyError, RecursionError, OverflowError)
_STREAM = 2
"""olefile's number for a stream."""


class OleStorage:
    """One storage: the file as a whole, or a folder in it."""

    def __init__(self, data: bytes, *, max_bytes: int) -> None:
        """`max_bytes` bounds all that is read: streams may share their sectors, and claim any size.

        Raises:
            SourceRefused: `corrupt`.
        """
        try:
            self._ole = olefile.OleFileIO(BytesIO(data))
            self._names = ["/".join(path) for path in self._ole.listdir(streams=True, storages=True)]
        except _BROKEN as error:
            raise SourceRefused("corrupt") from error
        self._prefix = ""
        self._left = [max_bytes]
        self._limit = max_bytes
        self._size = len(data)

    def names(self) -> Iterator[str]:
        """Yield the names of what lies directly in this storage."""
        for name in self._names:
            if name.startswith(self._prefix) and "/" not in name[len(self._prefix) :]:
                yield name[len(self._prefix) :]

    def inner(self, name: str) -> OleStorage:
        """Return a storage within this one; both share the bound."""
        storage = object.__new__(OleStorage)
        storage._ole, storage._names, storage._left = self._ole, self._names, self._left
        storage._limit, storage._size = self._limit, self._size
        storage._prefix = f"{self._prefix}{name}/"
        return storage

    def stream(self, name: str) -> bytes | None:
        """Return a stream, None where there is none of that name.

        Raises:
            SourceRefused: `corrupt`, `too_large`.
        """
        path = f"{self._prefix}{name}"
        try:
            if path not in self._names or self._ole.get_type(path) != _STREAM:
                return None
            size = self._ole.get_size(path)
            self._count(size)
            with self._ole.openstream(path) as stream:
                return stream.read()
        except _BROKEN as error:
            raise SourceRefused("corrupt") from error

    def _count(self, size: int) -> None:
        if size > self._size:
            raise SourceRefused("corrupt")
        self._left[0] -= size
        if self._left[0] < 0:
            raise SourceRefused("too_large", "inflated", limit=self._limit)
