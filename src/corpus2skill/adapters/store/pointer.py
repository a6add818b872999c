"""The pointer to the active version: one small file, replaced by one rename."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from corpus2skill.adapters.store import durable
from corpus2skill.adapters.store.encoding import decode, encode
from corpus2skill.errors import Damaged

_KEPT_HISTORY = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Pointer:
    """Which version is active, which were before it, and the highest number given so far."""

    version: int | None = None
    history: tuple[int, ...] = ()
    """Versions active before, oldest first: `rollback` takes the last."""
    last_version: int = 0
    """At least the highest number that ever was activated or removed; it is not given again."""
    next_chunk: int = 1
    """Above every chunk number of the versions that were removed."""

    def moved_to(self, version: int) -> Pointer:
        if version == self.version:
            return self
        history = self.history if self.version is None else (*self.history, self.version)
        return replace(
            self,
            version=version,
            history=history[-_KEPT_HISTORY:],
            last_version=max(self.last_version, version),
        )

    def moved_back(self, existing: tuple[int, ...]) -> Pointer | None:
        """Return the pointer after a rollback to the newest earlier version that exists, None without one."""
        history = list(self.history)
        while history:
            version = history.pop()
            if version in existing and version != self.version:
                return replace(self, version=version, history=tuple(history))
        return None

    def without(self, version: int, next_chunk: int) -> Pointer:
        """Return the pointer that no longer knows a removed version but for its number and its chunks'."""
        return replace(
            self,
            history=tuple(earlier for earlier in self.history if earlier != version),
            last_version=max(self.last_version, version),
            next_chunk=max(self.next_chunk, next_chunk),
        )


def load(file: Path) -> Pointer:
    """Return the pointer in `file`, an empty one where there is no file.

    Raises:
        Damaged: it cannot be read.
    """
    with durable.usable(file):
        try:
            data = file.read_bytes()
        except FileNotFoundError:
            return Pointer()
    try:
        return decode(data, Pointer)
    except ValueError as error:
        raise Damaged("pointer_damaged", file=str(file), corpus=file.parent.name) from error


def save(file: Path, pointer: Pointer) -> None:
    with durable.usable(file):
        durable.make_folder(file.parent)
        durable.replace_file(file, encode(pointer) + b"\n")
