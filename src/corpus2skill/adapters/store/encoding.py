"""Domain values as JSON and back.

JSON is UTF-8. A text with a lone surrogate (a file name that is not UTF-8, a broken extraction) has no
UTF-8; such a value is written with `\\udXXX` escapes instead, so that nothing is lost or refused.
"""

from __future__ import annotations

import hashlib
import json
from functools import cache
from typing import TypeVar

import msgspec

Value = TypeVar("Value")


def encode(value: object) -> bytes:
    """Return `value` as one line of JSON without its line end."""
    try:
        return msgspec.json.encode(value)
    except UnicodeEncodeError:
        return _escaped(value)


def spellings(text: str) -> tuple[bytes, ...]:
    """Return every way in which `encode` may spell `text` within a value."""
    return tuple({encode(text), _escaped(text)})


def decode(data: bytes, kind: type[Value]) -> Value:
    """Return the value of type `kind` that `data` holds.

    Raises:
        ValueError: it holds none.
    """
    try:
        return _decoder(kind).decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if b"\\ud" not in data and b"\\uD" not in data:
            raise ValueError(str(error)) from error
    try:
        return msgspec.convert(json.loads(data), kind)
    except (msgspec.ValidationError, RecursionError) as error:
        raise ValueError(str(error)) from error


def to_plain(value: object) -> dict[str, object]:
    """Return a dataclass as plain dicts, lists and scalars."""
    return msgspec.to_builtins(value)


def from_plain(plain: object, kind: type[Value]) -> Value:
    """Return the value of type `kind` that `plain` describes; fields that `kind` lacks are passed over.

    Raises:
        ValueError: it describes none.
    """
    try:
        return msgspec.convert(plain, kind)
    except msgspec.ValidationError as error:
        raise ValueError(str(error)) from error


def pretty(plain: object) -> bytes:
    """Return JSON for people to read, ending in a line end."""
    try:
        return (json.dumps(plain, ensure_ascii=False, indent=2) + "\n").encode("utf-8")
    except UnicodeEncodeError:
        return (json.dumps(plain, indent=2) + "\n").encode("ascii")


def canonical(plain: object) -> bytes:
    """Return the one JSON spelling of `plain`: keys sorted, no space, ASCII. It is what gets hashed."""
    return json.dumps(plain, sort_keys=True, separators=(",", ":")).encode("ascii")


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _escaped(value: object) -> bytes:
    return json.dumps(msgspec.to_builtins(value), separators=(",", ":")).encode("ascii")


@cache
def _decoder(kind: type[Value]) -> msgspec.json.Decoder[Value]:
    return msgspec.json.Decoder(kind)
