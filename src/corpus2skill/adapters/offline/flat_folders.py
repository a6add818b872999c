"""Folders that hold many documents in no telling order: what a person would sort by subject."""

from __future__ import annotations

import re
from collections.abc import Iterator

from corpus2skill.adapters.offline.outline import Branch

_NUMBERED = re.compile(
    r"\s*(?:第\s*[0-9０-９一二三四五六七八九十百千]+\s*[編部章節款条項号回]"
    r"|(?:chapter|part|section|article|appendix|lesson|step)[\s_.-]*[0-9ivx]+\b"
    r"|[0-9０-９]{1,3}(?:[.-][0-9]{1,3})*[\s_.．、-]+[^\W\d_])",
    re.IGNORECASE,
)
"""`第2条`, `Chapter 3`, `01_はじめに`; not `0001`, which says nothing, nor a date."""
_MOST_NUMBERED = (3, 4)
"""Share of numbered names from which the order is the author's."""


def flat_folders(root: Branch, most: int) -> Iterator[Branch]:
    """Yield the folders below and at `root` that hold more than `most` documents in no telling order."""
    waiting = [root]
    while waiting:
        branch = waiting.pop()
        if branch.is_folder:
            waiting.extend(entry for entry in branch.entries if isinstance(entry, Branch))
            documents = documents_of(branch)
            if len(documents) > most and not _is_numbered(documents):
                yield branch


def documents_of(folder: Branch) -> list[Branch]:
    """The documents that lie in `folder` itself."""
    branches = (entry for entry in folder.entries if isinstance(entry, Branch))
    return [branch for branch in branches if not branch.is_folder]


def _is_numbered(documents: list[Branch]) -> bool:
    numbered = sum(bool(_NUMBERED.match(document.title)) for document in documents)
    return numbered * _MOST_NUMBERED[1] >= len(documents) * _MOST_NUMBERED[0]
