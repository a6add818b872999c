"""The index of words that the offline navigator goes by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedLeaf:
    """A leaf as the index sees it."""

    path: str
    """Its node path."""
    title: str
    headings: tuple[str, ...]
    source: str
    text: str


class LexicalIndexWriter(Protocol):
    """Makes the files of `lexical/`, beside the tree, never served by the tool. One is for one version."""

    def prepare(self, text: str) -> None:
        """Take in a text that will be a leaf's, ahead of `write`, from whatever thread has time for it.

        It changes nothing but how long `write` takes.
        """
        ...

    def write(self, leaves: Sequence[IndexedLeaf]) -> Iterator[tuple[str, bytes]]:
        """Yield `(file name, content)`; the same leaves in the same order give the same bytes."""
        ...
