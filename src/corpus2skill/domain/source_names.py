"""Names of source documents, whether they lie in a folder, in an archive or in a mail."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath

_LEFT_BY_PROGRAMS = frozenset({"thumbs.db", "desktop.ini", "__macosx"})
_OFFICE_LOCK = "~$"
_MAILS, _ARCHIVES = (".eml", ".msg"), (".zip",)

_UNFIT = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
"""What cannot be seen, turns the text around it, or cannot be written as UTF-8."""
_DRIVE = re.compile(r"[A-Za-z]:")
_DEVICES = frozenset(
    {"con", "prn", "aux", "nul"} | {f"{device}{number}" for device in ("com", "lpt") for number in range(10)}
)
_LONGEST_PART = 200
_MOST_PARTS = 20
_NAMELESS = "document"


class UniqueNames:
    """Gives every document of one place a name of its own."""

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._numbers: dict[str, int] = {}

    def take(self, name: str) -> str:
        """Return `name`, or `stem (2).suffix` and so on where it is taken."""
        path = PurePosixPath(name)
        number, unique = self._numbers.get(name, 1), name
        while unique in self._taken:
            number += 1
            unique = str(path.with_name(f"{path.stem} ({number}){path.suffix}"))
        self._numbers[name] = number
        self._taken.add(unique)
        return unique


def holding(name: str) -> int:
    """Return 0 for what its name says is one document, 1 for a mail, which may hold others, 2 for an archive."""
    suffix = PurePosixPath(name).suffix.lower()
    return 2 if suffix in _ARCHIVES else int(suffix in _MAILS)


def is_hidden(name: str) -> bool:
    """True for a file or folder that its owner hid, or that operating systems and programs leave behind."""
    return name.startswith((".", _OFFICE_LOCK)) or name.lower() in _LEFT_BY_PROGRAMS


def upload_name(sent: str, folder: str = "") -> str:
    """Return the source name of a file that came under the name `sent`, to stand below `folder`.

    Folders are kept where they lie below the one that was handed in (`a/b.txt`); of a full path of the
    sender's machine only the file's own name is. The result is NFC, has no part that leads up, out or nowhere,
    none that is a device's name, and is never empty.
    """
    parts = _parts(sent)
    if _is_full_path(sent):
        parts = parts[-1:]
    kept = [*_parts(folder), *(parts or [_NAMELESS])]
    return "/".join(kept[-_MOST_PARTS:])


def _is_full_path(sent: str) -> bool:
    cleaned = _UNFIT.sub("", sent).strip()
    return cleaned.startswith(("/", "\\")) or bool(_DRIVE.match(cleaned))


def _parts(path: str) -> list[str]:
    cleaned = unicodedata.normalize("NFC", _UNFIT.sub("", path))
    parts = (_fit(part) for part in re.split(r"[/\\]", cleaned))
    return [part for part in parts if part]


def _fit(part: str) -> str:
    """Return a part of a name that any system could hold as a file; "" for one that names nothing."""
    kept = _shortened(_DRIVE.sub("", part, count=1) if _DRIVE.match(part) else part).strip().rstrip(". ")
    return f"_{kept}" if kept.partition(".")[0].strip().lower() in _DEVICES else kept


def _shortened(part: str) -> str:
    if len(part) <= _LONGEST_PART:
        return part
    suffix = PurePosixPath(part).suffix[:20]
    return part[: _LONGEST_PART - len(suffix)] + suffix
