"""Homes in tar files."""

from __future__ import annotations

import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from corpus2skill.adapters.store import backup, restore
from corpus2skill.domain.backup import ArchiveContents, BackupHead


class TarArchives:
    """`ports.backups.HomeArchives`: tar, packed with gzip where the name ends in `gz`."""

    def write(
        self, home: Path, target: Path, head: BackupHead, *, with_master_key: bool, with_databases: bool
    ) -> ArchiveContents:
        return backup.write_backup(
            home, target, head, with_master_key=with_master_key, with_databases=with_databases
        )

    def check(self, archive: Path) -> tuple[BackupHead, ArchiveContents]:
        return restore.check_archive(archive)

    def require_empty(self, home: Path) -> None:
        restore.require_empty(home)

    @contextmanager
    def building(self, archive: Path, contents: ArchiveContents, home: Path, place: str) -> Generator[Path]:
        folder = restore.staging_folder(home)
        try:
            restore.unpack(archive, contents, folder)
            restore.check_databases(folder, contents)
            restore.hand_over(folder, place)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def put_in_place(self, folder: Path, home: Path) -> None:
        restore.put_in_place(folder, home)
