"""The shape of a tree by rule: names told apart, chains folded, width and depth held to the limits.

Nothing here asks a model. What a grouping engine proposes comes through these rules before it is believed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from math import ceil

from corpus2skill.domain.chunk import TITLE_LIMIT
from corpus2skill.domain.ids import is_slug, slugify, unique_slug
from corpus2skill.domain.language import detect_language
from corpus2skill.domain.node_file import one_line
from corpus2skill.domain.tree import Group, TreeLimits

Hints = Callable[[Group], Sequence[str]]
"""What may stand behind a group's title to tell it from another, best first."""
_HINT_LIMIT = 20
"""Characters of a hint: the title itself keeps the first place."""


def no_hints(_group: Group) -> Sequence[str]:
    """The hints of one who knows nothing of a group beyond its own words."""
    return ()


def name_apart(groups: Sequence[Group], parent_title: str, hints: Hints = no_hints) -> tuple[Group, ...]:
    """Give siblings valid slugs and titles that differ from each other and from their parent's.

    The first holder of a name keeps it; another gets a hint behind it, a number where no hint helps.
    """
    slugs: set[str] = set()
    titles: set[str] = {parent_title}
    named: list[Group] = []
    for number, group in enumerate(groups, start=1):
        wanted = group.slug if is_slug(group.slug) else slugify(group.slug or group.title, f"topic-{number}")
        slug = unique_slug(wanted, slugs)
        plain = (one_line(group.title) or slug)[:TITLE_LIMIT]
        title = _title_apart(plain, titles, hints(group)) if plain in titles else plain
        slugs.add(slug)
        titles.add(title)
        named.append(replace(group, slug=slug, title=title, summary=one_line(group.summary) or title))
    return tuple(named)


def _title_apart(title: str, taken: set[str], hints: Sequence[str]) -> str:
    told = (_with_hint(title, one_line(hint)) for hint in hints if hint.strip() and hint not in title)
    numbered = (_with_tail(title, f" ({number})") for number in range(2, len(taken) + 3))
    return next(candidate for candidate in (*told, *numbered) if candidate not in taken)


def _with_hint(title: str, hint: str) -> str:
    short = hint if len(hint) <= _HINT_LIMIT else hint[: _HINT_LIMIT - 1] + "…"
    return _with_tail(title, f"（{short}）" if detect_language(title) == "ja" else f" ({short})")


def _with_tail(title: str, tail: str) -> str:
    return title[: TITLE_LIMIT - len(tail)].rstrip() + tail


def name_all_apart(groups: Sequence[Group], parent_title: str, hints: Hints = no_hints) -> tuple[Group, ...]:
    """`name_apart` on every level."""
    return tuple(
        replace(group, groups=name_all_apart(group.groups, group.title, hints))
        for group in name_apart(groups, parent_title, hints)
    )


def without_empty(groups: Sequence[Group]) -> tuple[Group, ...]:
    """Drop groups without a leaf beneath, and fold a group that only holds one other into it."""
    kept: list[Group] = []
    for group in groups:
        inner = without_empty(group.groups)
        if not inner and not group.member_ids:
            continue
        if len(inner) == 1 and not group.member_ids:
            kept.append(replace(group, groups=inner[0].groups, member_ids=inner[0].member_ids))
        else:
            kept.append(replace(group, groups=inner))
    return tuple(kept)


def slices(member_ids: Sequence[str], size: int) -> Iterator[tuple[str, ...]]:
    """Cut ids into runs of nearly equal length, none longer than `size`."""
    count = ceil(len(member_ids) / size)
    for index in range(count):
        start = index * len(member_ids) // count
        stop = (index + 1) * len(member_ids) // count
        yield tuple(member_ids[start:stop])


def pack(groups: Sequence[Group], max_children: int) -> tuple[Group, ...]:
    """Stack neighbours under new parents until at most `max_children` are left on top.

    A new parent is named after its first and last child: it says where it lies, and claims nothing more.
    """
    level = tuple(groups)
    while len(level) > max_children:
        count = max(ceil(len(level) / max_children), 2)
        bounds = [index * len(level) // count for index in range(count + 1)]
        level = tuple(_neighbours(level[start:stop]) for start, stop in pairwise(bounds))
    return level


def parent_of(groups: tuple[Group, ...], title: str) -> Group:
    """A group over `groups` by rule; its summary names them."""
    summary = " / ".join(group.title for group in groups)
    return Group(slug=slugify(title, groups[0].slug), title=title, summary=_cut(summary), groups=groups)


def _neighbours(groups: tuple[Group, ...]) -> Group:
    if len(groups) == 1:
        return groups[0]
    half = (TITLE_LIMIT - 3) // 2
    return parent_of(groups, f"{groups[0].title[:half]} – {groups[-1].title[:half]}")


def _cut(text: str, limit: int = 160) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def rebalance(groups: Sequence[Group], limits: TreeLimits) -> tuple[Group, ...]:
    """Rebuild what is too deep, and no more than has to be.

    Leaf groups keep their order, and stand under as few levels as they need; groups that fit stay whole.
    """
    return _rebuilt(groups, limits, limits.max_group_depth)


def _rebuilt(groups: Sequence[Group], limits: TreeLimits, depth: int) -> tuple[Group, ...]:
    """`groups` within `depth` levels; the caller has seen that their leaves fit, if only merged."""
    room = limits.max_children ** (depth - 1)
    is_local = len(groups) <= limits.max_children and all(
        _levels(group, depth) and len(list(_leaf_groups([group]))) <= room for group in groups
    )
    if is_local:
        return tuple(_shallow(group, limits, depth) for group in groups)
    leaf_groups = list(_leaf_groups(groups))
    if len(leaf_groups) > limits.max_children**depth:
        leaf_groups = _merged(leaf_groups, limits.max_leaves)
    return pack(leaf_groups, limits.max_children)


def _levels(group: Group, depth: int) -> bool:
    """True where `depth` levels may hold the group with its sub-groups below it."""
    return depth > 1 or not group.groups


def _shallow(group: Group, limits: TreeLimits, depth: int) -> Group:
    is_sound = group.depth() <= depth and _is_narrow([group], limits)
    return (
        group
        if is_sound
        else replace(group, groups=_rebuilt(_with_own(group), limits, depth - 1), member_ids=())
    )


def _with_own(group: Group) -> tuple[Group, ...]:
    """The sub-groups, the group's own leaves among them as one more."""
    return (*group.groups, replace(group, groups=())) if group.member_ids else group.groups


def _leaf_groups(groups: Sequence[Group]) -> Iterator[Group]:
    for group in groups:
        yield from _leaf_groups(group.groups)
        if group.member_ids:
            yield replace(group, groups=())


def _merged(leaf_groups: Sequence[Group], max_leaves: int) -> list[Group]:
    """Refill the groups from the first on, so that there are as few as the leaves need."""
    everything = [member for group in leaf_groups for member in group.member_ids]
    owners = {member: group for group in leaf_groups for member in group.member_ids}
    return [replace(owners[run[0]], member_ids=run) for run in slices(everything, max_leaves)]


def is_within(groups: Sequence[Group], limits: TreeLimits) -> bool:
    """True where the groups below the root keep every limit."""
    deepest = max((group.depth() for group in groups), default=0)
    return deepest <= limits.max_group_depth and _is_narrow(groups, limits)


def _is_narrow(groups: Sequence[Group], limits: TreeLimits) -> bool:
    return len(groups) <= limits.max_children and all(
        len(group.member_ids) <= limits.max_leaves and _is_narrow(group.groups, limits) for group in groups
    )
