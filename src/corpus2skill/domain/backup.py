"""What a backup says of itself."""

from __future__ import annotations

from dataclasses import dataclass, field

BACKUP_FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupHead:
    """What stands first in an archive."""

    format: int
    product: str
    made_at: str
    """RFC 3339 in UTC with milliseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchiveContents:
    """What an archive holds, by the names of the home's files. It stands last: without it an archive was cut off."""

    files: dict[str, StoredFile] = field(default_factory=dict[str, StoredFile])
    has_master_key: bool = False
    has_databases: bool = True
