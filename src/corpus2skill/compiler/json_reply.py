"""The JSON object in a model's reply, whatever the model put around it.

Either the one object with the wanted keys comes out, or `BadReply` says what is wrong in words that can be
told to the model. What could be meant in two ways is refused: a broken object is never mended by guessing,
and a part of one never taken for the whole. Time is linear in the reply, whatever is in it.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, cast

from corpus2skill.compiler.json_tolerance import tolerated
from corpus2skill.errors import BadReply

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
Kind = Literal["string", "array"]

MOST_CHARACTERS = 200_000
"""Of a reply: longer ones are no answer to anything we ask."""
_MOST_STARTS = 64
"""Places in one reply where an object is looked for."""
_NEAR = 24
"""Characters shown of the place where a reply is broken."""
_MOST_TOLD = 100
"""Characters shown of the keys that came."""
_KIND_NAMES = {
    str: "string",
    int: "number",
    float: "number",
    bool: "boolean",
    type(None): "null",
    list: "array",
    dict: "object",
}
"""JSON's own words."""

_START = re.compile(r'\{\s*["}]')
_FENCED = re.compile(r"```[\w-]*\s*\n(?P<inside>.*)\n\s*```", re.DOTALL)
_THOUGHT = r"\s*(?:think|thinking|thoughts?|reasoning|reflection|scratchpad|analysis)\s*>"
_THINKING_OPENS = re.compile(rf"<{_THOUGHT}|\[THINK\]|◁think▷|<\|channel\|>\s*analysis", re.IGNORECASE)
_THINKING_CLOSES = re.compile(rf"<\s*/{_THOUGHT}|\[/THINK\]|◁/think▷|<\|channel\|>\s*final", re.IGNORECASE)
"""What reasoning models and their servers leave in a reply around their thoughts."""


def first_object(reply: str, wanted: Mapping[str, Kind]) -> dict[str, Json]:
    """Return the values of the `wanted` keys, of the one object in `reply` that has them all.

    Prose, fences, thinking, a wrapping object or list and further keys are passed over. Slips of writing that
    can be read in one way only (a comma too many, comments, other quotation marks) are allowed for.

    Raises:
        BadReply: there is no such object, or several that differ, or it is broken.
    """
    text = _answer(reply, wanted)
    try:
        return _only_match(text, wanted)
    except BadReply as fault:
        mended = tolerated(text) if fault.code in {"reply_no_object", "reply_invalid_json"} else text
        if mended == text:
            raise
    return _only_match(mended, wanted)


def _answer(reply: str, wanted: Mapping[str, Kind]) -> str:
    """The part of a reply that is its answer: without thoughts, fence and the quotes of a quoted object."""
    if len(reply) > MOST_CHARACTERS:
        raise BadReply("reply_too_long", limit=MOST_CHARACTERS)
    text = _unfenced(reply)
    if not text:
        raise BadReply("reply_empty", wanted=_named(wanted))
    if _is_one_object(text):
        return text
    text = _unfenced(_without_thinking(text))
    if not text:
        raise BadReply("reply_only_thinking", wanted=_named(wanted))
    return _unquoted(text)


def _unfenced(text: str) -> str:
    stripped = text.strip("\ufeff \t\r\n")
    match = _FENCED.fullmatch(stripped)
    return match["inside"].strip() if match else stripped


def _is_one_object(text: str) -> bool:
    """True where the text is one object and nothing else: what looks like thinking is then inside a string."""
    if not text.startswith("{"):
        return False
    try:
        _DECODER.decode(text)
    except (ValueError, RecursionError):
        return False
    return True


def _without_thinking(text: str) -> str:
    """What stands behind the last thought, up to one that never ends."""
    closes = [match.end() for match in _THINKING_CLOSES.finditer(text)]
    rest = text[closes[-1] :] if closes else text
    opening = _THINKING_OPENS.search(rest)
    return rest[: opening.start()] if opening else rest


def _unquoted(text: str) -> str:
    """The object that a reply holds as one JSON string."""
    if not text.startswith('"'):
        return text
    try:
        inner: object = _DECODER.decode(text)
    except (ValueError, RecursionError):
        return text
    return inner if isinstance(inner, str) else text


def _only_match(text: str, wanted: Mapping[str, Kind]) -> dict[str, Json]:
    """Return what the matching objects of `text` agree on."""
    matches: list[dict[str, Json]] = []
    fault = BadReply("reply_no_object", wanted=_named(wanted))
    for candidate in _candidates(text, wanted):
        match = candidate if isinstance(candidate, BadReply) else _match(candidate, wanted)
        if isinstance(match, BadReply):
            fault = match
        elif match not in matches:
            matches.append(match)
    if not matches:
        raise fault
    if len(matches) > 1:
        raise BadReply("reply_several_objects", wanted=_named(wanted), count=len(matches))
    return matches[0]


def _candidates(text: str, wanted: Mapping[str, Kind]) -> Iterator[dict[str, Json] | BadReply]:
    """Yield the objects of `text` that have a wanted key, outermost ones only, and what is wrong with others.

    Raises:
        BadReply: an object that has a wanted key is broken. What stands inside it is no answer.
    """
    at = 0
    for _ in range(_MOST_STARTS):
        start = _START.search(text, at)
        if start is None:
            break
        try:
            value, at = _DECODER.raw_decode(text, start.start())
        except json.JSONDecodeError as error:
            if _names_a_key(text[start.start() : error.pos], wanted):
                raise _broken(text, error) from error
            at = start.start() + 1
            yield _broken(text, error)
        except (ValueError, RecursionError) as error:
            # A number of thousands of digits, or brackets nested as deep.
            raise BadReply("reply_invalid_json", near=text[start.start() :][:_NEAR]) from error
        else:
            yield from _with_a_key(value, wanted)


def _with_a_key(value: Json, wanted: Mapping[str, Kind]) -> Iterator[dict[str, Json]]:
    """Look into wrappers, level by level, but never into an object that has a wanted key itself."""
    waiting: list[Json] = [value]
    for item in waiting:  # grows while it is walked
        if isinstance(item, dict):
            if any(_folded(key) in _folded_names(wanted) for key in item):
                yield item
            else:
                waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)


def _match(candidate: Mapping[str, Json], wanted: Mapping[str, Kind]) -> dict[str, Json] | BadReply:
    """Return the wanted values of an object, or what is wrong: one is missing, there twice, or of another type."""
    names = _folded_names(wanted)
    found: dict[str, Json] = {}
    for key, value in candidate.items():
        name = names.get(_folded(key))
        if name is None:
            continue
        if name in found and found[name] != value:
            return BadReply("reply_doubled_key", key=name)
        found[name] = value
    if len(found) < len(wanted):
        came = ascii(", ".join(candidate))[1:-1] if not _is_encodable(candidate) else ", ".join(candidate)
        return BadReply("reply_wrong_keys", wanted=_named(wanted), came=came[:_MOST_TOLD])
    faults = (_fault_of(name, kind, found[name]) for name, kind in wanted.items())
    return next(filter(None, faults), {name: found[name] for name in wanted})


def _fault_of(name: str, kind: Kind, value: Json) -> BadReply | None:
    if not isinstance(value, str if kind == "string" else list):
        return BadReply("reply_wrong_type", key=name, wanted=kind, came=_KIND_NAMES[type(value)])
    return None if _is_encodable(value) else BadReply("reply_bad_characters", key=name)


def _is_encodable(value: Json | Mapping[str, Json]) -> bool:
    """False where half a surrogate pair is in it, which no file can hold."""
    waiting: list[Json | Mapping[str, Json]] = [value]
    for item in waiting:
        if isinstance(item, str):
            if any("\ud800" <= letter <= "\udfff" for letter in item):
                return False
        elif isinstance(item, dict):
            waiting.extend((*item, *item.values()))
        elif isinstance(item, list):
            waiting.extend(item)
    return True


def _broken(text: str, error: json.JSONDecodeError) -> BadReply:
    if error.msg.startswith("Unterminated string") or not text[error.pos :].strip("`, \t\r\n"):
        return BadReply("reply_cut")
    return BadReply("reply_invalid_json", near=text[max(error.pos - _NEAR // 2, 0) :][:_NEAR])


def _names_a_key(text: str, wanted: Mapping[str, Kind]) -> bool:
    return any(re.search(rf'"\s*{re.escape(key)}\s*"\s*:', text, re.IGNORECASE) for key in wanted)


def _folded_names(wanted: Mapping[str, Kind]) -> dict[str, str]:
    return {_folded(key): key for key in wanted}


def _folded(key: str) -> str:
    return unicodedata.normalize("NFKC", key).strip().casefold()


def _named(wanted: Mapping[str, Kind]) -> str:
    return ", ".join(wanted)


def _unique(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json]:
    """Build an object; two different values under one key leave open which is meant."""
    built: dict[str, Json] = {}
    for key, value in pairs:
        if key in built and built[key] != value:
            raise BadReply("reply_doubled_key", key=key)
        built[key] = value
    return built


class _Decoder(json.JSONDecoder):
    """The standard decoder with line breaks allowed in strings and doubled keys refused."""

    def __init__(self) -> None:
        super().__init__(strict=False, object_pairs_hook=_unique)

    def raw_decode(self, s: str, idx: int = 0) -> tuple[Json, int]:
        return cast("tuple[Json, int]", super().raw_decode(s, idx))


_DECODER = _Decoder()
