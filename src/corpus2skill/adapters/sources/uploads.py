"""Source documents that were handed in to the server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from corpus2skill.domain.corpus import SourceFile, SourceReport
from corpus2skill.domain.upload import Upload, compile_order
from corpus2skill.errors import SourceRefused
from corpus2skill.ports.sources import SourceReader


class UploadedSources:
    """`ports.sources.SourceReader` over the uploads of a corpus and, behind them, the folders it was compiled from.

    Those that were refused are here too: the compile says so of them again and keeps their last good text.
    """

    def __init__(
        self,
        uploads: Callable[[], Mapping[str, Upload]],
        read: Callable[[str], bytes | None],
        folders: SourceReader | None = None,
        *,
        max_bytes: int,
    ) -> None:
        """`uploads` tells which there are by name, `read` the bytes of a SHA-256."""
        self._uploads, self._read, self._folders = uploads, read, folders
        self._max_bytes = max_bytes
        self._found: Mapping[str, Upload] = {}

    def find(self) -> Iterator[str | SourceReport]:
        """Yield the uploads' names in the order of a folder; then what only the folders have."""
        self._found = self._uploads()
        yield from sorted(self._found, key=lambda name: compile_order(name)[1])
        if self._folders is None:
            return
        for entry in self._folders.find():
            if isinstance(entry, SourceReport) or entry not in self._found:
                yield entry

    def read(self, source: str) -> SourceFile:
        """Return the bytes of one source as they are now.

        Raises:
            SourceRefused: `vanished`, or what the upload or the file was refused for.
        """
        upload = self._found.get(source)
        if upload is None:
            if self._folders is None:
                raise SourceRefused("vanished")
            return self._folders.read(source)
        if upload.sha256 is None:
            raise SourceRefused("too_large", "bytes", size=upload.bytes, limit=self._max_bytes)
        data = self._read(upload.sha256)
        if data is None:  # other bytes may have come since, which are another file's matter
            raise SourceRefused("vanished")
        return SourceFile(source=source, data=data, sha256=upload.sha256)

    def covers(self, source: str) -> bool:
        """An upload that is gone was taken out by its owner."""
        return self._folders is None or self._folders.covers(source)
