"""What the grouper asks of a language model, word for word.

A prompt shows titles and summaries only, never a text, and nothing of a file's name. What comes from
documents stands in a fence that it cannot close.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources

from corpus2skill.domain.grouping import GroupCard, GroupItem
from corpus2skill.domain.language import Language
from corpus2skill.domain.message import ProgramMessage, Text
from corpus2skill.domain.model_call import Purpose, TextCall
from corpus2skill.domain.shortening import one_line, shortened

GROUP_VERSION = "group-1"
PLACE_VERSION = "place-1"
DESCRIBE_VERSION = "describe-1"
"""Raised with every change of wording in `prompts/`."""

_STRING = {"type": "string"}


def _object(**properties: object) -> dict[str, object]:
    """A JSON Schema that providers with strict schemas take too: everything required, nothing beside it."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _array(items: object) -> dict[str, object]:
    return {"type": "array", "items": items}


GROUP_SCHEMA = json.dumps(
    _object(groups=_array(_object(slug=_STRING, title=_STRING, summary=_STRING, memberIds=_array(_STRING))))
)
PLACE_SCHEMA = json.dumps(
    _object(places=_array(_object(id=_STRING, group={"anyOf": [_STRING, {"type": "null"}]})))
)
DESCRIBE_SCHEMA = json.dumps(_object(title=_STRING, summary=_STRING))


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How many groups are asked for, and how many members each may have."""

    least: int
    most: int
    members: int
    is_limit: bool = False
    """True where more than `most` would not fit beside each other."""

    def told(self, language: Language) -> str:
        to = "〜" if language == "ja" else " to "
        return str(self.most) if self.least == self.most else f"{self.least}{to}{self.most}"


def group_call(
    lines: Sequence[str],
    wanted: Wanted,
    language: Language,
    *,
    parent_title: str,
    of_groups: bool,
    max_output_tokens: int,
) -> TextCall:
    """Ask for groups over items, or with `of_groups` for chapters over groups. `lines` are `item_line`s."""
    system, of_items_task, of_groups_task, above = _parts(language, "group")
    task = (of_groups_task if of_groups else of_items_task).format(
        above=above.format(parent=_quotable(parent_title)) + "\n\n" if parent_title else "",
        count=len(lines),
        wanted=wanted.told(language),
        most=wanted.members,
        items="\n".join(lines),
    )
    return _call("group", GROUP_VERSION, system, task, GROUP_SCHEMA, max_output_tokens)


def place_call(
    lines: Sequence[str],
    cards: Sequence[str],
    language: Language,
    *,
    may_leave_out: bool,
    max_output_tokens: int,
) -> TextCall:
    """Ask which of the groups each item belongs to. `lines` and `cards` are `item_line`s."""
    system, leaving, not_leaving, task = _parts(language, "place")
    rules = system.replace("{leaving}", leaving if may_leave_out else not_leaving)
    task = task.format(groups="\n".join(cards), items="\n".join(lines), count=len(lines))
    return _call("place", PLACE_VERSION, rules, task, PLACE_SCHEMA, max_output_tokens)


def describe_call(
    title: str,
    members: Sequence[str],
    siblings: Sequence[str],
    language: Language,
    *,
    count: int,
    parent_title: str,
    max_output_tokens: int,
) -> TextCall:
    """Ask for a group's title and summary anew. `members` may be the first few of `count` only."""
    system, task, titled, untitled, above, beside = _parts(language, "describe")
    task = task.format(
        present=(titled.format(title=_quotable(title)) if title else untitled) + "\n",
        above=above.format(parent=_quotable(parent_title)) + "\n" if parent_title else "",
        count=count,
        members="\n".join(members),
        beside="\n" + beside.format(siblings="\n".join(siblings)) if siblings else "",
    )
    return _call("describe", DESCRIBE_VERSION, system, task.rstrip(), DESCRIBE_SCHEMA, max_output_tokens)


def again_text(faults: str, number: int, language: Language) -> str:
    """What is said to a model whose reply `number` had `faults`."""
    (text,) = _parts(language, "grouping_again")
    return text.format(faults=faults, number=number)


def item_line(name: str, item: GroupItem | GroupCard, summary_limit: int | None = None) -> str:
    """One line of a list: `chunk_5 | 月額プランの解約条件 | 月額は申請した月の末日で終了し…`; no name, no first field."""
    summary = item.summary if summary_limit is None else shortened(item.summary, summary_limit)
    fields = (name, _fenced(item.title), _fenced(summary) if summary_limit != 0 else "")
    return " | ".join(field for field in fields if field)


def _fenced(text: str) -> str:
    """Text that is one line and can close no fence."""
    return one_line(text).replace("<", "＜").replace(">", "＞")


def _quotable(title: str) -> str:
    return _fenced(title).replace("「", "『").replace("」", "』").replace('"', "'")


def _call(
    purpose: Purpose, version: str, system: str, task: str, schema: str, max_output_tokens: int
) -> TextCall:
    return TextCall(
        purpose=purpose,
        prompt_version=version,
        system=system,
        messages=(ProgramMessage((Text(task),)),),
        schema=schema,
        max_output_tokens=max_output_tokens,
    )


@cache
def _parts(language: Language, name: str) -> tuple[str, ...]:
    """The pieces of a prompt file, between its `---` lines."""
    file = resources.files("corpus2skill.compiler") / "prompts" / language / f"{name}.md"
    return tuple(part.strip("\n").rstrip() for part in file.read_text(encoding="utf-8").split("\n---\n"))
