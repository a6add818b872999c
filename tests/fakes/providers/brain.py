"""A model that really answers, by rule: the same prompt always gets the same answer.

It looks at the wanted object's keys, in the schema or else in the prompt's words, and at the text that the prompt
is about. What it says is plain but valid, so that whole compiles and whole questions run against it.
"""

from __future__ import annotations

import re

from corpus2skill.domain.message import Text, Thinking
from tests.fakes.providers.items import Listed, data_of, listed_in
from tests.fakes.providers.navigator_brain import navigate
from tests.fakes.providers.prompt import Answer, Prompt
from tests.fakes.providers.wire import JsonObject, encode, items, obj, text

TITLE = 40
SUMMARY = 160
_MARKUP = re.compile(r"^[\s#*>\-・|]+|[\s*|]+$")
_LATIN = re.compile(r"[a-z0-9]+")


def rule_brain(prompt: Prompt) -> Answer:
    """Answer any prompt of the product's."""
    if prompt.tools:
        return _with_thought(prompt, navigate(prompt))
    keys = wanted_keys(prompt)
    if "groups" in keys:
        value = _groups(prompt)
    elif place := next((key for key in ("places", "placements", "assignments") if key in keys), None):
        value = _places(prompt, place)
    elif keys:
        value = _filled(prompt, keys)
    else:
        return _with_thought(prompt, Answer(parts=(Text(_plain(prompt)),)))
    return _with_thought(prompt, Answer(parts=(Text(encode(value).decode()),)))


def wanted_keys(prompt: Prompt) -> tuple[str, ...]:
    """Return the keys of the wanted object, from the schema, else from the quoted words of the system prompt."""
    if prompt.schema:
        return tuple(obj(prompt.schema.get("properties")))
    quoted = re.findall(r'"([A-Za-z_]+)"\s*:', prompt.system) or re.findall(
        r'"([A-Za-z_]+)"\s*:', prompt.text
    )
    return tuple(dict.fromkeys(quoted))


def _filled(prompt: Prompt, keys: tuple[str, ...]) -> JsonObject:
    """A title and a summary of the data; of a list of things, of the things' words."""
    listed = listed_in(prompt.question)
    source = data_of(prompt.question)
    if len(listed) > 1:
        source = "\n".join(each.words for each in listed)
    properties = obj((prompt.schema or {}).get("properties"))
    title, summary = title_and_summary(source)
    known = {"title": title, "summary": summary, "slug": slug_of(title, 1)}
    return {key: known.get(key, _any_value(obj(properties.get(key)), title)) for key in keys}


def title_and_summary(source: str) -> tuple[str, str]:
    """Return the first line with words as the title, and the words from there on as the summary."""
    lines = [
        bare
        for line in source.splitlines()
        if (bare := _MARKUP.sub("", line)) and any(map(str.isalnum, bare))
    ]
    if not lines:
        return "Untitled", "No words."
    return lines[0][:TITLE].strip(), " ".join(lines)[:SUMMARY].strip()


def slug_of(title: str, position: int) -> str:
    words = _LATIN.findall(title.lower())
    return f"{'-'.join(words)[:40].strip('-') or 'topic'}-{position}"


def _groups(prompt: Prompt) -> JsonObject:
    listed = listed_in(prompt.question)
    properties = obj(obj((prompt.schema or {}).get("properties")).get("groups"))
    names = tuple(obj(obj(properties.get("items")).get("properties")))
    members = next((name for name in names if "member" in name.lower() or "id" in name.lower()), "memberIds")
    count = min(len(listed), 10, max(2, -(-len(listed) // 8)))
    groups: list[JsonObject] = []
    for position in range(count):
        part = listed[position * len(listed) // count : (position + 1) * len(listed) // count]
        groups.append(_group(position + 1, part, members))
    return {"groups": groups}


def _group(position: int, part: list[Listed], members: str) -> JsonObject:
    title, _ = title_and_summary(part[0].words or part[0].item_id)
    _, summary = title_and_summary("\n".join(each.words or each.item_id for each in part))
    name = f"{title[: TITLE - 4]} {position}"
    return {
        "slug": slug_of(title, position),
        "title": name,
        "summary": summary,
        members: [each.item_id for each in part],
    }


def _places(prompt: Prompt, key: str) -> JsonObject:
    """Everything goes to the group with which it shares most characters."""
    listed = listed_in(prompt.question)
    schema = obj(obj((prompt.schema or {}).get("properties")).get(key))
    names = tuple(obj(obj(schema.get("items")).get("properties"))) or ("id", "group")
    things = [each for each in listed if not each.item_id.startswith(("g", "G"))]
    groups = [each for each in listed if each not in things]
    placed = [{names[0]: thing.item_id, names[1]: _nearest(thing, groups)} for thing in things if groups]
    return {key: placed}


def _nearest(thing: Listed, groups: list[Listed]) -> str:
    return max(groups, key=lambda group: len(set(group.words) & set(thing.words))).item_id


def _any_value(schema: JsonObject, words: str) -> object:
    if choices := items(schema.get("enum")):
        return choices[0]
    match schema.get("type"):
        case "integer" | "number":
            return 1
        case "boolean":
            return True
        case "array":
            return []
        case "object":
            properties = obj(schema.get("properties"))
            return {key: _any_value(obj(inner), words) for key, inner in properties.items()}
        case _:
            return text(schema.get("const")) or words


def _plain(prompt: Prompt) -> str:
    return title_and_summary(data_of(prompt.question))[1]


def _with_thought(prompt: Prompt, answer: Answer) -> Answer:
    if not prompt.wants_thinking:
        return answer
    thought = Thinking(text=f"The question is: {prompt.question[:60]}")
    return Answer(parts=(thought, *answer.parts), stop=answer.stop, usage=answer.usage)
