"""Describing calls: a group's title and summary, said again from what is in it and what stands beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from corpus2skill.compiler.asking import ROOM_TO_ASK_AGAIN, CutShort, ask, prompt_tokens
from corpus2skill.compiler.group_prompts import describe_call, item_line
from corpus2skill.compiler.group_replies import DescriptionReader
from corpus2skill.domain.chunk import SUMMARY_LIMIT, TITLE_LIMIT
from corpus2skill.domain.grouping import GroupCard, GroupDescription, GroupItem
from corpus2skill.domain.language import Language
from corpus2skill.domain.model_call import TextCall
from corpus2skill.domain.shortening import one_line, shortened
from corpus2skill.ports.language_model import LanguageModel

REPLY_TOKENS = 500
_MOST_CUT = 2
"""Replies that ran into their limit: the second call shows less."""


@dataclass(frozen=True, slots=True)
class _Sight:
    """How much of a group and its siblings is shown."""

    members: int
    member_summary: int | None
    siblings: int
    sibling_summary: int | None


_SIGHTS = (
    _Sight(60, None, 11, None),
    _Sight(60, 80, 11, 80),
    _Sight(60, 0, 11, 40),
    _Sight(30, 0, 11, 0),
    _Sight(12, 0, 6, 0),
)
"""From all to little: the first that fits into the window is taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribeTask:
    """A group that is to be described."""

    title: str
    """The present one; "" asks for another."""
    members: Sequence[GroupItem]
    siblings: Sequence[GroupCard]
    parent_title: str
    language: Language


async def describe_group(model: LanguageModel, task: DescribeTask) -> GroupDescription:
    """Return what the model says of a group; a rule's words where it says nothing that can be used.

    Raises:
        ModelError: a call failed for good.
    """
    reader = DescriptionReader(
        language=task.language,
        siblings=frozenset(one_line(sibling.title) for sibling in task.siblings),
        parent_title=task.parent_title,
    )
    calls = list(_calls(task))
    fitting = [call for call in calls if _tokens(call) <= model.window] or calls[-1:]
    for call in fitting[:_MOST_CUT]:
        try:
            return await ask(model, call, reader, task.language) or _by_rule(task)
        except CutShort:
            continue
    return _by_rule(task)


def _calls(task: DescribeTask) -> Iterator[TextCall]:
    for sight in _SIGHTS:
        yield describe_call(
            task.title,
            [item_line("", member, sight.member_summary) for member in task.members[: sight.members]],
            [item_line("", sibling, sight.sibling_summary) for sibling in task.siblings[: sight.siblings]],
            task.language,
            count=len(task.members),
            parent_title=task.parent_title,
            max_output_tokens=REPLY_TOKENS,
        )


def _tokens(call: TextCall) -> int:
    return prompt_tokens(call) + REPLY_TOKENS + ROOM_TO_ASK_AGAIN


def _by_rule(task: DescribeTask) -> GroupDescription:
    contents = one_line(" / ".join(member.title for member in task.members))
    return GroupDescription(
        title=task.title or shortened(one_line(task.members[0].title), TITLE_LIMIT),
        summary=shortened(contents, SUMMARY_LIMIT),
        is_stand_in=True,
    )
