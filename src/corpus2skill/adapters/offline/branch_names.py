"""What a person would call a branch."""

from __future__ import annotations

import re
from collections.abc import Sequence

from corpus2skill.adapters.offline.outline import Branch
from corpus2skill.domain.grouping import GroupItem
from corpus2skill.domain.shortening import one_line

_FILE_NAME = re.compile(r"[\x21-\x7e]*[_.\-0-9][\x21-\x7e]*|[a-z]+|[A-Z]{5,}")
"""A name for machines: `CHAP_Limits`, `doc_source`, `2024-10-01`, `README`."""
_JOINED_WORDS = re.compile(r"[A-Za-z0-9]*[a-z][A-Z][A-Za-z0-9]*")
"""`UsingAlarmActions`: not for machines alone, but what stands in the document is easier to read."""


def name_of_row(row: Sequence[Branch], size: int, items: Sequence[GroupItem]) -> str:
    """Return the name of the branch that holds exactly the `size` items of `row`, "" where there is none."""
    if len(row) == 1 and not row[0].is_cluster:
        return name_of_branch(row[0], items) if row[0].is_folder else human_name(row[0], items)
    branch = row[0].parent
    while branch is not None and branch.size < size:
        branch = branch.parent
    return (
        name_of_branch(branch, items) if branch is not None and branch.size == size and branch.title else ""
    )


def ends_of_row(row: Sequence[Branch], items: Sequence[GroupItem], above: str) -> tuple[str, str, str]:
    """Return what a row lies in (but not where that is `above`, which is said already), its first and last name."""
    first, last = row[0], row[-1]
    around = _named_around(first, last)
    common = name_of_branch(around, items) if around is not None else ""
    names = [_name_below(branch, around, items, is_end=branch is last) for branch in (first, last)]
    if common in names[0]:
        common = ""
    return ("" if common == above or _FILE_NAME.fullmatch(common) else common), names[0], names[1]


def contents_of_row(row: Sequence[Branch], items: Sequence[GroupItem]) -> list[str]:
    """Return the names of the documents or chapters in `row`; of the items in it where there is but one."""
    documents = documents_of_row(row)
    if len(documents) > 1:
        return [human_name(document, items) for document in documents]
    return [items[place].title for branch in row for place in branch.items()]


def documents_of_row(row: Sequence[Branch]) -> list[Branch]:
    """Return the documents that `row` holds or is a part of, whatever clusters they are in."""
    found = [document_around(branch) for cluster in row for branch in cluster.documents()]
    return list({id(document): document for document in found}.values())


def document_around(branch: Branch) -> Branch:
    """Return the document that `branch` is or lies in."""
    while branch.parent is not None and not (branch.parent.is_cluster or branch.parent.is_folder):
        branch = branch.parent
    return branch


def human_name(branch: Branch, items: Sequence[GroupItem]) -> str:
    """Return the name of `branch`; the title of its first item where that name is hard to read."""
    name = name_of_branch(branch, items)
    is_hard = _JOINED_WORDS.fullmatch(name) or (_FILE_NAME.fullmatch(name) and not name.isalpha())
    return one_line(items[next(branch.items())].title) if is_hard else name


def name_of_branch(branch: Branch, items: Sequence[GroupItem], *, is_end: bool = False) -> str:
    """Return the title of `branch`, or of its first or last item where nobody named it.

    A file's name gives way to the heading over all that is in it.
    """
    titles = _titles_of_chain(branch)
    if titles:
        human = [title for title in titles if not _FILE_NAME.fullmatch(title)]
        return human[0] if human else titles[0]
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


def _named_around(first: Branch, last: Branch) -> Branch | None:
    """The nearest named branch that holds both."""
    around_first = first.around()
    return next((branch for branch in last.around() if branch in around_first and branch.title), None)


def _name_below(branch: Branch, around: Branch | None, items: Sequence[GroupItem], *, is_end: bool) -> str:
    """The name of `branch`; of its document or section where it is a lone item of one that `around` holds."""
    named = next((above for above in branch.around() if above.title), None)
    if not branch.title and branch.size == 1 and named is not None and named is not around:
        return name_of_branch(named, items)
    return name_of_branch(branch, items, is_end=is_end)
