"""What changed between two versions, in plain words."""

from __future__ import annotations

from collections.abc import Iterator

from corpus2skill.domain.version import Difference
from corpus2skill.entrypoints.cli.output import Output

_SHOWN = 20
"""Names listed of one kind before the rest is only counted."""


def difference_lines(out: Output, difference: Difference, *, is_full: bool) -> Iterator[str]:
    """Yield the sums, then the names of the sources and, if `is_full`, of leaves and nodes."""
    if difference.is_empty:
        yield out.say("cli.no_difference")
        return
    yield out.say(
        "cli.difference",
        sources_added=len(difference.sources_added),
        sources_removed=len(difference.sources_removed),
        sources_changed=len(difference.sources_changed),
        sources_renamed=len(difference.sources_renamed),
        nodes_added=len(difference.nodes_added),
        nodes_removed=len(difference.nodes_removed),
        leaves_added=len(difference.leaves_added),
        leaves_removed=len(difference.leaves_removed),
        moved=len(difference.leaves_moved),
        reworded=len(difference.leaves_reworded) + len(difference.nodes_reworded),
    )
    for mark, names in _named(difference, is_full=is_full):
        shown = names if is_full else names[:_SHOWN]
        for name in shown:
            yield f"  {mark} {name}"
        if len(names) > len(shown):
            yield "  " + out.say("cli.and_more", count=len(names) - len(shown))


def _named(difference: Difference, *, is_full: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "+", difference.sources_added
    yield "-", difference.sources_removed
    yield "~", difference.sources_changed
    yield ">", tuple(f"{old} -> {new}" for old, new in difference.sources_renamed)
    if is_full:
        yield "+", difference.nodes_added
        yield "-", difference.nodes_removed
        yield "~", difference.nodes_reworded
        yield "+", difference.leaves_added
        yield "-", difference.leaves_removed
        yield ">", difference.leaves_moved
        yield "~", difference.leaves_reworded
