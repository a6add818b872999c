"""The workspace folder: its format, and where things lie in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from corpus2skill.adapters.store import durable
from corpus2skill.adapters.store.encoding import decode, encode
from corpus2skill.domain.ids import is_corpus_name
from corpus2skill.domain.version import FORMAT
from corpus2skill.errors import Damaged, InvalidInput, WorkspaceUnusable

FORMAT_FILE = "workspace.json"
UNFINISHED = "restore.unfinished"
"""Stands in a home for as long as a backup is being put into it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Format:
    format: int


class Workspace:
    """One workspace. Looking at it makes nothing; `prepare` makes it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._is_checked = False

    def corpora(self) -> tuple[Path, ...]:
        """Folders of corpora, sorted by name."""
        self.check()
        above = self.root / "corpora"
        with durable.usable(above):
            if not above.is_dir():
                return ()
            return tuple(sorted(path for path in above.iterdir() if is_corpus_name(path.name)))

    def corpus(self, name: str) -> Path:
        """Return the folder of a corpus, which need not exist.

        Raises:
            InvalidInput: `name` cannot be a corpus's name.
            WorkspaceUnusable: a newer release wrote this workspace.
        """
        if not is_corpus_name(name):
            raise InvalidInput("invalid_corpus_name", corpus=name)
        self.check()
        return self.root / "corpora" / name

    def check(self) -> None:
        """Refuse a workspace that a newer release wrote."""
        if self._is_checked:
            return
        file = self.root / FORMAT_FILE
        with durable.usable(file):
            if (self.root / UNFINISHED).exists():
                raise WorkspaceUnusable("restore_unfinished", path=str(self.root))
            try:
                data = file.read_bytes()
            except FileNotFoundError:
                return
        check_format(_format(data, file), FORMAT_FILE)
        self._is_checked = True

    def prepare(self) -> None:
        """Make the workspace where there is none."""
        self.check()
        if self._is_checked:
            return
        with durable.usable(self.root):
            durable.make_folder(self.root)
            durable.replace_file(self.root / FORMAT_FILE, encode(_Format(format=FORMAT)) + b"\n")
        self._is_checked = True


def check_format(came: int, file: str) -> None:
    """Raises: WorkspaceUnusable, where a newer release wrote `file`."""
    if came > FORMAT:
        raise WorkspaceUnusable("workspace_newer", file=file, wanted=FORMAT, came=came)


def _format(data: bytes, file: Path) -> int:
    try:
        return decode(data, _Format).format
    except ValueError as error:
        raise Damaged("workspace_damaged", file=str(file)) from error
