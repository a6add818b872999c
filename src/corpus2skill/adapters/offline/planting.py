"""Makes the groups of a whole corpus: where to part it, and what to call the parts."""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from corpus2skill.adapters.offline.bisecting import cluster
from corpus2skill.adapters.offline.branch_names import (
    contents_of_row,
    document_around,
    documents_of_row,
    ends_of_row,
    human_name,
    name_of_row,
)
from corpus2skill.adapters.offline.flat_folders import documents_of, flat_folders
from corpus2skill.adapters.offline.naming import (
    distinct_title,
    group_summary,
    names_title,
    range_title,
    slug_of,
    some_names_title,
    terms_title,
)
from corpus2skill.adapters.offline.outline import Branch, grow, without_chain
from corpus2skill.adapters.offline.packing import pack
from corpus2skill.adapters.offline.partition import Bin, partition
from corpus2skill.adapters.offline.sentences import plain
from corpus2skill.adapters.offline.telling_terms import contrasting, terms
from corpus2skill.adapters.offline.words import index_words
from corpus2skill.domain.grouping import GroupItem, GroupProposal
from corpus2skill.domain.ids import unique_slug
from corpus2skill.domain.language import Language
from corpus2skill.domain.tree import TreeLimits

_TEXT_FOR_CLUSTERS = 600
"""Characters of an item's text that clusters go by, beside its title and summary."""
_GROUPS_FOR_SUBJECTS = 3
"""Documents without an order come into as many groups as the root of so many times their number: 7 for 20."""
_MANY_DOCUMENTS = 20
_CUT_WORD = re.compile("[A-Za-z0-9.+#-]+…")
TELLING_TERMS = 4
"""Of a group, at most."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A group to be: its branches, how many items they hold, and the terms that mark it."""

    branches: Bin
    documents: Sequence[Branch]
    """All or a part of each is in it."""
    size: int
    telling: tuple[str, ...]
    subjects: tuple[str, ...]
    """Of the telling terms those that several documents have, where they cover half of the documents."""


class Planting:
    """One grouping call over all items."""

    def __init__(self, items: Sequence[GroupItem], limits: TreeLimits, language: Language) -> None:
        self.items = items
        self.limits = limits
        self.language: Language = language
        self.named = [_named_terms(item) for item in items]
        self.terms = [_with_told_terms(item, named) for item, named in zip(items, self.named, strict=True)]

    def proposals(self) -> tuple[GroupProposal, ...]:
        """Part all items, from the top down."""
        root = grow(self.items)
        self.sort_flat_folders(root)
        branches = without_chain(root).branches()
        depth = min(self.depth_for(root.size), self.limits.max_group_depth)
        if depth == 1 and self.is_worth_a_level(branches):
            depth = 2
        bins = self.parted(branches, root.size, depth, self.groups_on_top(root))
        return self.groups(bins, above="")

    def parted(self, branches: Sequence[Branch], size: int, depth: int, bins: int) -> list[Bin]:
        """Part `branches` into at most `bins` groups for `depth` levels of groups."""
        room = self.room_below(depth)
        if not _is_of_clusters(branches):
            return partition(branches, bins=bins, room=room)
        documents = sum(len(list(branch.documents())) for branch in branches)
        spread = max(math.isqrt(_GROUPS_FOR_SUBJECTS * documents), 1)
        while spread**depth * self.limits.max_leaves < size:
            spread += 1
        return pack(branches, bins=bins, room=room, spread=min(spread, bins))

    def is_worth_a_level(self, branches: Sequence[Branch]) -> bool:
        """True where a few branches with names of their own would be broken up only to save a fetch."""
        are_named = all(branch.title for branch in branches) and len(branches) <= self.limits.max_children
        is_broken = any(branch.size > self.limits.max_leaves for branch in branches)
        return are_named and is_broken and self.limits.max_group_depth > 2

    def groups_on_top(self, root: Branch) -> int:
        """How many groups the root has at most: a small corpus is not cut into groups of one."""
        branches = without_chain(root).branches()
        if root.size > self.limits.max_leaves or 2 * len(branches) <= root.size:
            return self.limits.max_children
        return max(min(self.limits.max_children, math.isqrt(root.size)), 1)

    def groups_within(self, part: _Part, depth: int) -> int:
        """How many sub-groups to make at most: a document's chapters, else full ones.

        The leaves of a full group can be read for one fetch each; chapters are what people know.
        """
        if depth > 1 or self.has_chapters(part):
            return self.limits.max_children
        full = math.ceil(part.size / self.limits.max_leaves)
        return min(self.limits.max_children, full + 1 + full // 3)

    def has_chapters(self, part: _Part) -> bool:
        """True for one named branch whose inner ones are few, named, and of several leaves on average."""
        if len(part.branches) != 1 or not part.branches[0].title:
            return False
        inner = without_chain(part.branches[0]).branches()
        named = sum(bool(branch.title) for branch in inner)
        return 2 * named > len(inner) and len(inner) <= min(self.limits.max_children, part.size // 3)

    def depth_for(self, size: int) -> int:
        """The fewest levels of groups that can hold `size` items."""
        depth = 1
        while self.room_below(depth) * self.limits.max_children < size:
            depth += 1
        return depth

    def room_below(self, depth: int) -> int:
        """The most items that one of the groups on top of `depth` levels can hold."""
        return self.limits.max_children ** (depth - 1) * self.limits.max_leaves

    def sort_flat_folders(self, root: Branch) -> None:
        """Bring documents of one subject together in every folder that holds many in no telling order."""
        for folder in flat_folders(root, self.limits.max_children):
            documents = documents_of(folder)
            sorted_ones = cluster(documents, [self.words_of(document) for document in documents])
            folder.replace(documents, sorted_ones)

    def words_of(self, branch: Branch) -> Counter[str]:
        """The words of a document: its name and its headings twice, and the beginnings of its chunks."""
        counted: Counter[str] = Counter()
        for place in branch.items():
            item = self.items[place]
            text = f"{item.title}\n{item.summary}\n{item.text[:_TEXT_FOR_CLUSTERS]}"
            counted.update(index_words(text))
        names = dict.fromkeys(
            name
            for place in branch.items()
            for name in self.items[place].outline[self.items[place].folders :]
        )
        for name in names:
            for word in index_words(name):
                counted[word] += 2
        return counted

    def groups(self, bins: Sequence[Bin], *, above: str) -> tuple[GroupProposal, ...]:
        """Make a group of each bin, all with different titles, and none with the one `above`."""
        parts = self.parts(bins)
        titles = self.titles(parts, above)
        slugs: set[str] = set()
        proposals: list[GroupProposal] = []
        for number, (part, title) in enumerate(zip(parts, titles, strict=True), 1):
            slug = unique_slug(slug_of(title, number), slugs)
            slugs.add(slug)
            members, contents = self.members(part, title)
            marks = part.telling if len(parts) > 1 else ()
            summary = group_summary(contents, marks, self.language)
            proposals.append(GroupProposal(slug=slug, title=title, summary=summary, members=members))
        return tuple(proposals)

    def parts(self, bins: Sequence[Bin]) -> list[_Part]:
        """The bins, each with the terms that tell it from the others.

        Of documents put together by their words it counts how many have a term; else how many leaves.
        """
        is_by_document = any(map(_is_of_clusters, bins))
        units = [self.units(row, is_by_document=is_by_document) for row in bins]
        held = [_term_sets(rows, self.terms) for rows in units]
        counted = [Counter(term for one in terms_of_bin for term in one) for terms_of_bin in held]
        everywhere = Counter[str]()
        for own in counted:
            everywhere.update(own)
        parts: list[_Part] = []
        for row, places, terms_of_bin, own in zip(bins, units, held, counted, strict=True):
            named = Counter(term for one in _term_sets(places, self.named) for term in one)
            telling = tuple(contrasting(own, everywhere, TELLING_TERMS, named))
            subjects = _covering(telling, terms_of_bin)
            size = sum(branch.size for branch in row)
            parts.append(_Part(row, documents_of_row(row), size, telling, subjects))
        return parts

    def units(self, row: Bin, *, is_by_document: bool) -> list[list[int]]:
        """The places of the items of each document in `row`, or each leaf by itself."""
        if not is_by_document:
            return [[place] for branch in row for place in branch.items()]
        found: dict[int, list[int]] = {}
        for branch in row:
            for inner in branch.documents():
                found.setdefault(id(document_around(inner)), []).extend(inner.items())
        return list(found.values())

    def members(self, part: _Part, title: str) -> tuple[tuple[str | GroupProposal, ...], list[str]]:
        """What lies in a group, leaves or groups, and their titles."""
        if part.size <= self.limits.max_leaves:
            items = [self.items[place] for branch in part.branches for place in branch.items()]
            return tuple(item.item_id for item in items), contents_of_row(part.branches, self.items)
        depth = self.depth_for(part.size)
        bins = self.parted(part.branches, part.size, depth, self.groups_within(part, depth))
        alone = [row[0] for row in bins if len(row) == 1 and row[0].size == 1]
        if len(alone) <= self.limits.max_leaves:
            bins = [row for row in bins if row[0] not in alone]
        else:
            alone = []
        groups = self.groups(bins, above=title)
        leaves = [self.items[place] for branch in alone for place in branch.items()]
        members = (*groups, *(leaf.item_id for leaf in leaves))
        return members, [*(group.title for group in groups), *(leaf.title for leaf in leaves)]

    def titles(self, parts: Sequence[_Part], above: str) -> list[str]:
        taken = {above}
        titles: list[str] = []
        for part in parts:
            title = distinct_title(self.title(part, above), taken, part.telling, self.language)
            taken.add(title)
            titles.append(title)
        return titles

    def title(self, part: _Part, above: str) -> str:
        """The author's name for what is in `part`; the terms of a cluster; else from where to where it goes."""
        named = name_of_row(part.branches, part.size, self.items)
        if named:
            return named
        if _is_of_clusters(part.branches) and len(part.documents) > 1:
            return self.subject_title(part)
        around, first, last = ends_of_row(part.branches, self.items, above)
        return first if first == last else range_title(around, first, last)

    def subject_title(self, part: _Part) -> str:
        """The names of all documents; where they are too many the terms they share, else some of the names.

        Of very many documents a few names say less than the terms that mark them.
        """
        largest = sorted(part.documents, key=lambda document: -document.size)
        names = [human_name(document, self.items) for document in largest]
        telling = part.telling if len(names) > _MANY_DOCUMENTS else ()
        titles = (
            names_title(names, self.language),
            terms_title(part.subjects, self.language) if len(part.subjects) > 1 else "",
            terms_title(telling, self.language) if len(telling) > 1 else "",
            some_names_title(names, self.language, least=2),
            terms_title(part.subjects or part.telling, self.language),
        )
        return next(filter(None, titles), some_names_title(names, self.language, least=1))


def _covering(telling: Sequence[str], documents: Sequence[Collection[str]]) -> tuple[str, ...]:
    """The terms that several of `documents` have; none where half of the documents have none of them."""
    least = max(2, math.ceil(len(documents) / 3))
    shared = tuple(term for term in telling if sum(term in one for one in documents) >= least)
    covered = sum(any(term in one for term in shared) for one in documents)
    return shared if 2 * covered >= len(documents) else ()


def _is_of_clusters(row: Sequence[Branch]) -> bool:
    return any(branch.is_cluster or branch.is_clustered for branch in row)


def _term_sets(units: Sequence[Sequence[int]], terms_of: Sequence[Collection[str]]) -> list[set[str]]:
    return [{term for place in places for term in terms_of[place]} for places in units]


def item_terms(item: GroupItem) -> tuple[str, ...]:
    """The terms of one item, each once; what its author named it comes first."""
    return _with_told_terms(item, _named_terms(item))


def _named_terms(item: GroupItem) -> tuple[str, ...]:
    text = "\n".join((item.title, *map(plain, item.outline[-2:])))
    return tuple(map(sys.intern, terms(_CUT_WORD.sub("", text))))


def _with_told_terms(item: GroupItem, named: tuple[str, ...]) -> tuple[str, ...]:
    """In a text that is all Latin only names count: its running words are verbs as often as things."""
    told = [] if item.summary.isascii() else terms(_CUT_WORD.sub("", item.summary))
    kept = named if all(map(str.isascii, told)) else (*named, *told)
    return tuple(dict.fromkeys(map(sys.intern, kept)))  # one string for a term, however many leaves have it
