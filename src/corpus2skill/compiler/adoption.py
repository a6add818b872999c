"""Proposals on their way into groups, and where a group lies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from corpus2skill.domain.grouping import GroupProposal, Repairs
from corpus2skill.domain.tree import Group

Address = tuple[int, ...]
"""The indices on the way from the root to a group."""


class Adoption:
    """Proposals on their way into groups: unknown ids dropped, doubles kept at their first place."""

    def __init__(self, names: set[str], as_groups: Mapping[str, Group] | None = None) -> None:
        self.names = names
        self.as_groups = as_groups
        """Where the items are groups themselves: what each id stands for."""
        self.placed: set[str] = set()
        self.repairs = Repairs()

    def groups(self, proposals: Sequence[GroupProposal]) -> tuple[Group, ...]:
        return tuple(self.group(proposal) for proposal in proposals)

    def group(self, proposal: GroupProposal) -> Group:
        inner = [self.group(member) for member in proposal.members if isinstance(member, GroupProposal)]
        names = [name for name in proposal.members if isinstance(name, str) and self.take(name)]
        if self.as_groups is not None:
            inner += [self.as_groups[name] for name in names]
            names = []
        return Group(
            slug=proposal.slug,
            title=proposal.title,
            summary=proposal.summary,
            groups=tuple(inner),
            member_ids=tuple(names),
        )

    def take(self, name: str) -> bool:
        if name not in self.names:
            self.repairs += Repairs(unknown_ids=1)
        elif name in self.placed:
            self.repairs += Repairs(doubled_ids=1)
        else:
            self.placed.add(name)
            return True
        return False


def leaf_groups(groups: Sequence[Group], above: Address = ()) -> Iterator[tuple[Address, Group]]:
    """Every group with leaves of its own, with its address."""
    for index, group in enumerate(groups):
        address = (*above, index)
        if group.member_ids:
            yield address, group
        yield from leaf_groups(group.groups, address)


def titles_above(groups: Sequence[Group], address: Address) -> Iterator[str]:
    """The titles of the groups around the one at `address`, outermost first."""
    for index in address[:-1]:
        yield groups[index].title
        groups = groups[index].groups


def address_id(address: Address) -> str:
    return "group_" + "_".join(map(str, address))


def without(groups: Sequence[Group], names: Iterable[str]) -> tuple[Group, ...]:
    gone = set(names)
    return tuple(
        replace(
            group,
            groups=without(group.groups, gone),
            member_ids=tuple(name for name in group.member_ids if name not in gone),
        )
        for group in groups
    )
