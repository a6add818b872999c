"""Names of source documents, whether they lie in a folder, in an archive or in a mail."""

from __future__ import annotations

from pathlib import PurePosixPath

_LEFT_BY_PROGRAMS = frozenset({"thumbs.db", "desktop.ini", "__macosx"})
_OFFICE_LOCK = "~$"
_MAILS, _ARCHIVES = (".eml", ".msg"), (".zip",)


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
