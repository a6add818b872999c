"""The smallest request that the OpenAPI document lets through, for any of its operations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

METHODS = ("get", "post", "put", "patch", "delete")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    method: str
    path: str
    described: Mapping[str, Any]
    document: Mapping[str, Any]

    @property
    def name(self) -> str:
        return str(self.described["operationId"])

    @property
    def names(self) -> tuple[str, ...]:
        """Of the parameters in its path."""
        return tuple(one["name"] for one in self.described.get("parameters", ()) if one["in"] == "path")

    def request(self) -> dict[str, Any]:
        """Keywords of a client's `request`: the query and body that are required."""
        parameters = [one for one in self.described.get("parameters", ()) if one.get("required")]
        query = {one["name"]: self._example(one["schema"]) for one in parameters if one["in"] == "query"}
        content = self.described.get("requestBody", {}).get("content", {})
        if "application/json" in content:
            return {"params": query, "json": self._example(content["application/json"]["schema"])}
        if "multipart/form-data" in content:
            return {"params": query, "files": {"files": ("a.txt", "本文".encode(), "text/plain")}}
        return {"params": query}

    def _example(self, schema: Mapping[str, Any]) -> Any:
        if "$ref" in schema:
            return self._example(self.document["components"]["schemas"][schema["$ref"].rpartition("/")[2]])
        for several in ("anyOf", "oneOf", "allOf"):
            if several in schema:
                return self._example(schema[several][0])
        if "const" in schema or "enum" in schema:
            return schema.get("const", (schema.get("enum") or [None])[0])
        if "default" in schema:
            return schema["default"]
        return self._plain(schema)

    def _plain(self, schema: Mapping[str, Any]) -> Any:
        match schema.get("type"):
            case "object":
                wanted = schema.get("required", ())
                return {name: self._example(schema["properties"][name]) for name in wanted}
            case "array":
                return [self._example(schema["items"])] * schema.get("minItems", 0)
            case "integer" | "number":
                return schema.get("minimum", 1)
            case "boolean":
                return False
            case _:
                return "a" * max(schema.get("minLength", 1), 1)


def operations(document: Mapping[str, Any]) -> Iterator[Operation]:
    for path, described in document["paths"].items():
        for method in METHODS:
            if method in described:
                yield Operation(method=method, path=path, described=described[method], document=document)
