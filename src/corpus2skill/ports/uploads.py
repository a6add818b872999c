"""Where the bytes of uploads lie, and the texts that came out of them."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol


class IncomingFile(Protocol):
    """A file that is just coming, beside those that are here."""

    @property
    def size(self) -> int:
        """Bytes written so far."""
        ...

    def write(self, data: bytes) -> None:
        """Raises: WorkspaceUnusable: the disk is full, or nearly."""
        ...

    def close(self) -> str:
        """End it and return the SHA-256 of all that was written."""
        ...

    def discard(self) -> None:
        """Leave nothing of it; of one that was taken in, nothing is taken away."""
        ...


class UploadFiles(Protocol):
    """One tenant's bytes, each kept once under its SHA-256, and what was read out of them."""

    def begin(self) -> IncomingFile:
        """Raises: WorkspaceUnusable: the disk is full, or nearly, or may not be written."""
        ...

    def make_durable(self, files: Sequence[IncomingFile]) -> None:
        """Wait until closed files are on the disk."""
        ...

    def changing(self) -> AbstractContextManager[None]:
        """Held while files are taken in or removed together with their rows; other processes wait.

        Raises:
            Busy: another process has held it for too long.
        """
        ...

    def take_in(self, files: Sequence[IncomingFile]) -> None:
        """Put durable files in their places, whose bytes may be there already."""
        ...

    def path(self, sha256: str) -> Path:
        """Where these bytes lie, if they are here."""
        ...

    def read(self, sha256: str) -> bytes | None:
        """These bytes; None where they are not here, or no longer what they were.

        Raises:
            WorkspaceUnusable: the disk refused.
        """
        ...

    def remove(self, sha256: str) -> None:
        """Remove these bytes and every text that came out of them."""
        ...

    def tidy(self) -> None:
        """Remove what dead processes left half received."""
        ...
