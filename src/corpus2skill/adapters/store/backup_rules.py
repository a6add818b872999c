"""What of a home goes into a backup, and what an archive of it looks like."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

HEAD = "corpus2skill-backup.json"
"""The first member of an archive."""
CONTENTS = "contents.json"
"""The last one: an archive without it was cut off."""
FILES = "home/"
"""What the names of the home's own files begin with."""
MASTER_KEY = "master.key"
_LEFT_OUT = ("texts", "uploads/incoming")
"""Texts that are read again from the uploads, and what is just being received."""
_ENDINGS = (".lock", "-wal", "-shm", "-journal")
_VERSION = re.compile(r"((?:tenants/[^/]+/)?corpora/[^/]+/versions/[^/]+/).+")
_UPLOAD = re.compile(r"(?:tenants/[^/]+/)?uploads/.+")
_DATABASE = re.compile(r"(?:tenants/[^/]+/)?[^/]+\.db")
_MOST_NAME = 1_000


def is_database(name: str) -> bool:
    return _DATABASE.fullmatch(name) is not None


def is_unchanging(name: str) -> bool:
    """True for what is never written again once it is there: files of versions, and uploads."""
    return _VERSION.fullmatch(name) is not None or _UPLOAD.fullmatch(name) is not None


def version_of(name: str) -> str | None:
    """The folder of the version that a file is of."""
    found = _VERSION.fullmatch(name)
    return None if found is None else found[1]


def files_of(home: Path, *, with_master_key: bool) -> Iterator[str]:
    """Names of all files that belong in a backup, sorted within each folder; links are not followed."""
    yield from _below(home, "", with_master_key)


def is_safe_name(name: str) -> bool:
    """True for a relative path without tricks, which stays below the folder it is put into."""
    parts = name.split("/")
    is_plain = name.isprintable() and "\\" not in name and ":" not in name and len(name) <= _MOST_NAME
    return (
        is_plain
        and all(part not in ("", ".", "..") for part in parts)
        and not PurePosixPath(name).is_absolute()
    )


def _below(home: Path, folder: str, with_master_key: bool) -> Iterator[str]:
    try:
        entries = sorted((home / folder).iterdir())
    except FileNotFoundError:  # removed meanwhile
        return
    for entry in entries:
        name = f"{folder}/{entry.name}" if folder else entry.name
        if entry.is_symlink() or _is_left_out(name, with_master_key):
            continue
        if entry.is_dir():
            yield from _below(home, name, with_master_key)
        elif entry.is_file():
            yield name


def _is_left_out(name: str, with_master_key: bool) -> bool:
    own = re.sub(r"^tenants/[^/]+/", "", name)
    if own in _LEFT_OUT or own.rpartition("/")[2].startswith(".") or own.endswith(_ENDINGS):
        return True
    return name == MASTER_KEY and not with_master_key
