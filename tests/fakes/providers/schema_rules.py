"""JSON Schemas that structured output takes, by provider."""

from __future__ import annotations

from collections.abc import Iterator

from tests.fakes.providers.wire import JsonObject, items, obj, objects

_ANTHROPIC_REFUSED = (
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
)
_OPENAI_REFUSED = (
    "allOf",
    "not",
    "dependentRequired",
    "dependentSchemas",
    "if",
    "then",
    "else",
    "uniqueItems",
)


def check_anthropic_schema(schema: JsonObject) -> str | None:
    """Return what Anthropic's structured output minds about a schema; None where it takes it."""
    if not schema:
        return "Field required"
    for _, part in _parts((), schema):
        kind = part.get("type")
        if kind == "object" and part.get("additionalProperties") is not False:
            return "For 'object' type, 'additionalProperties' must be explicitly set to false"
        for name in _ANTHROPIC_REFUSED:
            if name in part:
                return f"For '{kind}' type, property '{name}' is not supported"
        if part.get("minItems") not in (None, 0, 1):
            return "For 'array' type, 'minItems' values other than 0 or 1 are not supported"
    return None


def check_openai_schema(schema: JsonObject) -> str | None:
    """Return what OpenAI's strict structured output minds about a schema; None where it takes it."""
    if schema.get("type") != "object":
        return f"schema must be a JSON Schema of 'type: \"object\"', got 'type: \"{schema.get('type')}\"'."
    for where, part in _parts((), schema):
        context = f"In context={where!r}, "
        for name in _OPENAI_REFUSED:
            if name in part:
                return f"{context}'{name}' is not permitted."
        if part.get("type") != "object":
            continue
        if part.get("additionalProperties") is not False:
            return f"{context}'additionalProperties' is required to be supplied and to be false."
        required = items(part.get("required"))
        for name in obj(part.get("properties")):
            if name not in required:
                return f"{context}'required' is required to be supplied and to be an array including every key in properties. Missing '{name}'."
    return None


def _parts(where: tuple[str, ...], schema: JsonObject) -> Iterator[tuple[tuple[str, ...], JsonObject]]:
    yield where, schema
    for name, inner in obj(schema.get("properties")).items():
        yield from _parts((*where, "properties", name), obj(inner))
    for name, inner in obj(schema.get("$defs")).items():
        yield from _parts((*where, "$defs", name), obj(inner))
    if isinstance(schema.get("items"), dict):
        yield from _parts((*where, "items"), obj(schema.get("items")))
    for name in ("anyOf", "oneOf"):
        for position, inner in enumerate(objects(schema.get(name))):
            yield from _parts((*where, name, str(position)), inner)
