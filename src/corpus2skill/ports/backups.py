"""Homes in one file."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from corpus2skill.domain.backup import ArchiveContents, BackupHead


class HomeArchives(Protocol):
    def write(
        self, home: Path, target: Path, head: BackupHead, *, with_master_key: bool, with_databases: bool
    ) -> ArchiveContents:
        """Write everything of `home` to `target`, which appears whole or not at all; a server may go on there.

        All databases, and the pointers to the active versions, are of one moment.

        Raises:
            Conflict: there is a file at `target`; or a version that is active was removed meanwhile.
            Busy: a database was being written for too long.
            Damaged, WorkspaceUnusable.
        """
        ...

    def check(self, archive: Path) -> tuple[BackupHead, ArchiveContents]:
        """Read the whole archive and compare every file with its hash; nothing is written.

        Raises:
            InvalidInput: it is no backup, was cut off, or something in it is not what was written.
            WorkspaceUnusable: a newer release made it, or it cannot be read.
        """
        ...

    def require_empty(self, home: Path) -> None:
        """Raises: Conflict: something is there."""
        ...

    def building(
        self, archive: Path, contents: ArchiveContents, home: Path, place: str
    ) -> AbstractContextManager[Path]:
        """Unpack a checked archive into a folder of its own, which is gone after the block.

        The worker of `place` takes over what the workers of the old machine were at.

        Raises:
            InvalidInput: it is another archive than the one that was checked.
            Damaged: a database in it is not sound.
            WorkspaceUnusable: the disk refused.
        """
        ...

    def put_in_place(self, folder: Path, home: Path) -> None:
        """Make a built folder the home. If this is cut off, the home says of itself that it is unfinished."""
        ...
