"""JSON as it comes and goes, and errors as the providers word them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import msgspec

JsonObject = dict[str, object]

_decoder = msgspec.json.Decoder()


@dataclass(frozen=True, slots=True, kw_only=True)
class WireError(Exception):
    """A refusal, before it has a provider's shape."""

    status: int
    kind: str
    """Anthropic's or OpenAI's `error.type`."""
    message: str
    code: str | None = None
    """OpenAI's `error.code`; Anthropic's `error.details.error_code`."""
    param: str | None = None
    headers: dict[str, str] = field(default_factory=dict[str, str])


def decode(text: bytes | str) -> object:
    """Return the JSON value.

    Raises:
        ValueError: it is none.
    """
    return cast("object", _decoder.decode(text))


def encode(value: object) -> bytes:
    return msgspec.json.encode(value)


def obj(value: object) -> JsonObject:
    """Return `value` where it is a JSON object, else an empty one."""
    return cast("JsonObject", value) if isinstance(value, dict) else {}


def items(value: object) -> list[object]:
    """Return `value` where it is a JSON list, else an empty one."""
    return cast("list[object]", value) if isinstance(value, list) else []


def objects(value: object) -> list[JsonObject]:
    return [obj(item) for item in items(value)]


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def tokens(words: str) -> int:
    """Count tokens by a rule of thumb: four characters of ASCII, or one of anything else."""
    wide = (len(words.encode("utf-8", "surrogatepass")) - len(words)) // 2
    return wide + (max(len(words) - wide, 0) + 3) // 4
