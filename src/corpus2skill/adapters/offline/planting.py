"""Makes the groups of a whole corpus: where to part, what to call the parts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from corpus2skill.adapters.offline.bisecting import cluster
from corpus2skill.adapters.offline.naming import (
    distinct_title,
    group_summary,
    range_title,
    slug_of,
    terms_title,
)
from corpus2skill.adapters.offline.outline import Branch, grow, without_chain
from corpus2skill.adapters.offline.partition import Bin, partition
from corpus2skill.adapters.offline.shortening import one_line
from corpus2skill.adapters.offline.telling_terms import contrasting, terms
from corpus2skill.adapters.offline.words import index_words
from corpus2skill.domain.grouping import GroupItem, GroupProposal
from corpus2skill.domain.ids import unique_slug
from corpus2skill.domain.language import Language
from corpus2skill.domain.tree import TreeLimits

_TEXT_FOR_TERMS = 300
"""Characters of an item's text that its terms are taken from, beside its title and summary."""


@dataclass(frozen=True, slots=True)
class _Part:
    """A group to be: its branches and the terms of its items."""

    branches: Bin
    size: int
    terms: Counter[str]


class Planting:
    """One grouping call over all items."""

    def __init__(self, items: Sequence[GroupItem], limits: TreeLimits, language: Language) -> None:
        self.items = items
        self.limits = limits
        self.language: Language = language
        self.terms = [_terms_of(item) for item in items]

    def proposals(self) -> tuple[GroupProposal, ...]:
        root = grow(self.items)
        self.cluster_flat_branches(root)
        depth = min(self.depth_for(root.size), self.limits.max_group_depth)
        branches = without_chain(root).branches()
        return self.groups(branches, root.size, depth, above="", is_root=True)

    def cluster_flat_branches(self, root: Branch) -> None:
        """Give an inner order to every branch that holds a long row of documents and says no more."""
        room = self.limits.max_children * self.limits.max_leaves
        waiting = [root]
        while waiting:
            branch = waiting.pop()
            within = [entry for entry in branch.entries if isinstance(entry, Branch)]
            waiting.extend(within)
            if branch.size > room and len(within) > self.limits.max_children:
                branches = branch.branches()
                words = [self.words_of(part) for part in branches]
                branch.adopt(cluster(branches, words, room=self.limits.max_leaves))

    def words_of(self, branch: Branch) -> Counter[str]:
        counted: Counter[str] = Counter()
        for place in branch.items():
            item = self.items[place]
            counted.update(index_words(f"{item.title}\n{item.summary}\n{item.text}"))
        return counted

    def depth_for(self, size: int) -> int:
        """The fewest levels of groups that can hold `size` items."""
        depth, room = 1, self.limits.max_children * self.limits.max_leaves
        while room < size:
            depth, room = depth + 1, room * self.limits.max_children
        return depth

    def groups(
        self, branches: Sequence[Branch], size: int, depth: int, *, above: str, is_root: bool = False
    ) -> tuple[GroupProposal, ...]:
        """Part `branches` into groups for `depth` more levels."""
        room = self.limits.max_children ** (depth - 1) * self.limits.max_leaves
        bins = partition(branches, bins=self.wanted(branches, size, depth, is_root=is_root), room=room)
        parts = [self.part(row) for row in bins]
        titles = self.titles(parts, above)
        slugs: set[str] = set()
        proposals: list[GroupProposal] = []
        for number, (part, title) in enumerate(zip(parts, titles, strict=True), 1):
            slug = unique_slug(slug_of(title, number), slugs)
            slugs.add(slug)
            others = [other.terms for other in parts if other is not part]
            proposals.append(self.proposal(part, slug, title, others))
        return tuple(proposals)

    def wanted(self, branches: Sequence[Branch], size: int, depth: int, *, is_root: bool) -> int:
        """How many groups to make at most: full ones, so that neighbours can be read for one fetch each."""
        most = self.limits.max_children
        if depth > 1:
            return most
        if size > self.limits.max_leaves:
            return min(
                most, math.ceil(size / self.limits.max_leaves) + 1 + size // self.limits.max_leaves // 3
            )
        if is_root and 2 * len(branches) <= size:
            return most
        return max(min(most, math.isqrt(size)), 1)

    def part(self, row: Bin) -> _Part:
        places = [place for branch in row for place in branch.items()]
        counted = Counter(term for place in places for term in self.terms[place])
        return _Part(row, len(places), counted)

    def proposal(self, part: _Part, slug: str, title: str, others: Sequence[Counter[str]]) -> GroupProposal:
        members: tuple[str | GroupProposal, ...]
        if part.size <= self.limits.max_leaves:
            places = [place for branch in part.branches for place in branch.items()]
            members = tuple(self.items[place].item_id for place in places)
            contents = [self.items[place].title for place in places]
        else:
            members = groups = self.groups(part.branches, part.size, self.depth_for(part.size), above=title)
            contents = [group.title for group in groups]
        summary = group_summary(_told_once(contents), part.size, part.terms, others, self.language)
        return GroupProposal(slug=slug, title=title, summary=summary, members=members)

    def titles(self, parts: Sequence[_Part], above: str) -> list[str]:
        """A title for each of the siblings, all different and none like the one above."""
        taken = {above}
        titles: list[str] = []
        for part in parts:
            others = [other.terms for other in parts if other is not part]
            telling = contrasting(part.terms, others, 3)
            title = distinct_title(self.title(part, others), taken, telling, self.language)
            taken.add(title)
            titles.append(title)
        return titles

    def title(self, part: _Part, others: Sequence[Counter[str]]) -> str:
        """The author's name for what is in `part`; its telling terms where it is a cluster; else its range."""
        named = self.name_of_all(part)
        if named:
            return named
        if any(not branch.title and branch.size > 1 for branch in part.branches):
            title = terms_title(part.terms, others, self.language, frozenset())
            if title:
                return title
        first = self.name(part.branches[0], is_end=False)
        last = self.name(part.branches[-1], is_end=True)
        return first if first == last else range_title(first, last)

    def name_of_all(self, part: _Part) -> str:
        """The name of the branch that holds exactly the items of `part`, "" where there is none."""
        if part.size == 1:
            return self.name(part.branches[0], is_end=False)
        branch: Branch | None = part.branches[0]
        while branch is not None and branch.size <= part.size:
            if branch.size == part.size and branch.title:
                return one_line(branch.title)
            branch = branch.parent
        return ""

    def name(self, branch: Branch, *, is_end: bool) -> str:
        """The title of a branch, or of its first or last item."""
        if branch.title:
            return one_line(branch.title)
        places = list(branch.items())
        return one_line(self.items[places[-1 if is_end else 0]].title)


def _terms_of(item: GroupItem) -> tuple[str, ...]:
    text = "\n".join((item.title, item.summary, *item.outline[-2:], item.text[:_TEXT_FOR_TERMS]))
    return tuple(dict.fromkeys(terms(text)))


def _told_once(contents: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(one_line(content) for content in contents))
