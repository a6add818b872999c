"""A model that really answers, by rule: the same prompt always gets the same answer.

It looks at the wanted object's keys, in the schema or else in the prompt's words, and at what the prompt is about.
What it says is plain but valid, so that whole compiles and whole questions run against it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from corpus2skill.domain.message import Text, Thinking
from tests.fakes.providers.grouping_brain import described, grouped, placed
from tests.fakes.providers.items import block, listed, material
from tests.fakes.providers.navigator_brain import navigate
from tests.fakes.providers.prompt import Answer, Prompt
from tests.fakes.providers.wire import JsonObject, encode, items, obj, text
from tests.fakes.providers.wording import SUMMARY, titled

_LIMIT = re.compile(r"summary[（ (]+(?:at most )?(\d+)(?:字以内| characters)")
_KEY = re.compile(r'"([A-Za-z_]+)"\s*:')


def rule_brain(prompt: Prompt) -> Answer:
    """Answer any prompt of the product's."""
    if prompt.tools:
        return _with_thought(prompt, navigate(prompt))
    keys = wanted_keys(prompt)
    if "groups" in keys:
        said = encode(grouped(prompt)).decode()
    elif "places" in keys:
        said = encode(placed(prompt)).decode()
    elif keys:
        said = encode(_filled(prompt, keys)).decode()
    else:
        said = titled(*material(prompt.question))[1]
    return _with_thought(prompt, Answer(parts=(Text(said),)))


def wanted_keys(prompt: Prompt) -> tuple[str, ...]:
    """Return the keys of the wanted object, from the schema, else from the objects shown in the prompt."""
    if prompt.schema:
        return tuple(obj(prompt.schema.get("properties")))
    return tuple(dict.fromkeys(_KEY.findall(prompt.system) or _KEY.findall(prompt.text)))


def _filled(prompt: Prompt, keys: Sequence[str]) -> JsonObject:
    """A title and a summary; for other keys whatever their schema takes."""
    if members := listed(block(prompt.question, "members"), has_ids=False):
        title, summary = described(prompt, members)
    else:
        limit = _LIMIT.search(prompt.question)
        title, summary = titled(*material(prompt.question), limit=int(limit[1]) if limit else SUMMARY)
    properties = obj((prompt.schema or {}).get("properties"))
    known = {"title": title, "summary": summary}
    return {key: known.get(key, _any_value(obj(properties.get(key)), title)) for key in keys}


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


def _with_thought(prompt: Prompt, answer: Answer) -> Answer:
    if not prompt.wants_thinking:
        return answer
    thought = Thinking(text=f"The question is: {prompt.question[:60]}")
    return Answer(parts=(thought, *answer.parts), stop=answer.stop, usage=answer.usage)
