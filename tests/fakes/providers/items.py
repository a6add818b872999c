"""What a prompt is about: its data, and the things listed in it with an id each."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.fakes.providers.wire import JsonObject, decode, items, obj, text

_BLOCK = re.compile(r"<([A-Za-z][\w-]*)(?:\s[^>]*)?>\s*(.*?)\s*</\1>", re.DOTALL)
_FENCE = re.compile(r"```[\w-]*\n(.*?)\n```", re.DOTALL)
_LINE = re.compile(
    r"^[\s\-*#・\[(\"'`]*(?P<id>[A-Za-z]{1,12}[_-]?\d+(?:[_-]\w+)*)[\])\"'`]*\s*[:：|｜\t、.—–-]*\s*(?P<words>.*)$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """One thing with an id."""

    item_id: str
    words: str


def data_of(prompt_text: str) -> str:
    """Return the longest block in tags or fences: what the prompt is about; the whole text where there is none."""
    blocks = [match[1] for match in _BLOCK.findall(prompt_text)]
    blocks += _FENCE.findall(prompt_text)
    return max((block for block in blocks if block.strip()), key=len, default=prompt_text)


def listed_in(prompt_text: str) -> list[Listed]:
    """Return what is listed, in order, each id once: from JSON with `id` fields, else from lines that begin with an id."""
    found = list(_in_json(prompt_text)) or list(_in_lines(prompt_text))
    return list({each.item_id: each for each in reversed(found)}.values())[::-1]


def _in_lines(prompt_text: str) -> Iterator[Listed]:
    for line in prompt_text.splitlines():
        if match := _LINE.match(line):
            yield Listed(item_id=match["id"], words=match["words"].strip())


def _in_json(prompt_text: str) -> Iterator[Listed]:
    for line in _json_texts(prompt_text):
        try:
            value = decode(line)
        except ValueError:
            continue
        for each in _objects_with_id(value):
            words = " ".join(text(each.get(name)) for name in ("title", "summary") if each.get(name))
            yield Listed(item_id=text(each["id"]), words=words)


def _json_texts(prompt_text: str) -> Iterator[str]:
    yield data_of(prompt_text)
    for line in prompt_text.splitlines():
        if (bare := line.strip().rstrip(",")).startswith(("{", "[")):
            yield bare


def _objects_with_id(value: object) -> Iterator[JsonObject]:
    one = obj(value)
    if isinstance(one.get("id"), str):
        yield one
    for inner in (*one.values(), *items(value)):
        if obj(inner) or items(inner):
            yield from _objects_with_id(inner)
