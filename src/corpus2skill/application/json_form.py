"""Values of the domain as plain JSON: what programs read of them, whichever the door."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import cast

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def to_json(value: object) -> Json:
    """Return dataclasses as objects by field name, collections as arrays, mappings as objects.

    Raises:
        TypeError: `value` holds something that has no JSON form.
    """
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: to_json(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        items = cast("Mapping[object, object]", value).items()
        return {str(name): to_json(item) for name, item in items}
    if isinstance(value, Iterable):
        return [to_json(item) for item in cast("Iterable[object]", value)]
    raise TypeError(f"no JSON form for {type(value).__name__}")
