"""What a person would call a branch."""

from __future__ import annotations

import re
from collections.abc import Sequence

from corpus2skill.adapters.offline.outline import Branch
from corpus2skill.adapters.offline.shortening import one_line
from corpus2skill.domain.grouping import GroupItem

_FILE_NAME = re.compile(r"[\x21-\x7e]*[_.\-0-9][\x21-\x7e]*|[a-z]+")
"""A name for machines: `CHAP_Limits`, `doc_source`, `2024-10-01`."""


def name_of_row(row: Sequence[Branch], size: int, items: Sequence[GroupItem]) -> str:
    """Return the name of the branch that holds exactly the `size` items of `row`, "" where there is none."""
    if len(row) == 1 and not row[0].is_cluster:
        return name_of_branch(row[0], items, is_end=False)
    branch = row[0].parent
    while branch is not None and branch.size < size:
        branch = branch.parent
    return name_of_branch(branch, items, is_end=False) if branch is not None and _holds(branch, row, size) else ""


def name_of_branch(branch: Branch, items: Sequence[GroupItem], *, is_end: bool) -> str:
    """Return the title of `branch`, or of its first or last item where nobody named it.

    A file's name gives way to the heading over all that is in it.
    """
    titles = _titles_of_chain(branch)
    if titles:
        human = [title for title in titles if not _FILE_NAME.fullmatch(title)]
        return one_line(human[0] if human else titles[0])
    places = list(branch.items())
    return one_line(items[places[-1 if is_end else 0]].title)


def _titles_of_chain(branch: Branch) -> list[str]:
    """The titles of `branch` and of the lone branches within it that hold the same items."""
    titles = [branch.title] if branch.title else []
    while len(branch.entries) == 1 and isinstance(branch.entries[0], Branch):
        branch = branch.entries[0]
        if branch.title:
            titles.append(branch.title)
    return titles


def _holds(branch: Branch, row: Sequence[Branch], size: int) -> bool:
    return branch.size == size and bool(branch.title) and bool(row)
