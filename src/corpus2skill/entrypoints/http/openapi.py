"""The OpenAPI document: what FastAPI finds in the routes, and the problems that any of them may answer with."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute

from corpus2skill.entrypoints.http.problems import MEDIA_TYPE, FieldFault, Problem

_PROBLEM = {"$ref": "#/components/schemas/Problem"}
_REFERENCE = "#/components/schemas/{model}"
_NOT_OURS = ("HTTPValidationError", "ValidationError")
_BEARER = {"type": "http", "scheme": "bearer", "description": "An API token: `POST /v1/api-tokens`."}


def _documented(description: str) -> dict[str, Any]:
    return {"description": description, "content": {MEDIA_TYPE: {"schema": _PROBLEM}}}


PROBLEMS: dict[int | str, dict[str, Any]] = {
    401: _documented("Nobody we know is asking."),
    403: _documented("The one who asks may not do this."),
    404: _documented("There is no such thing, or it is another tenant's."),
    409: _documented("It does not go together with what is there now."),
    422: _documented("The request is not of the right form, or cannot be carried out as it is."),
    429: _documented("A limit was reached; `Retry-After` says when to come back."),
    "4XX": _documented("The request was refused."),
    "5XX": _documented("The server, its database or a model cannot do it now."),
}
"""`responses=` of every route under `/v1`."""
_OF_STATUS = {str(status): found for status, found in PROBLEMS.items()}


def operation_id(route: APIRoute) -> str:
    """The name of the route's function: stable, whatever its path becomes."""
    return route.name


def describe(app: FastAPI) -> None:
    """Have `app` give out the document that `openapi_document` makes."""

    def openapi() -> dict[str, Any]:
        if not app.openapi_schema:
            app.openapi_schema = openapi_document(app)
        return app.openapi_schema

    app.openapi = openapi


def openapi_document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=app.title,
        version="1",
        summary="Compile documents into a tree; answer questions by walking down it.",
        routes=app.routes,
        separate_input_output_schemas=False,
    )
    components = document.setdefault("components", {})
    schemas = components.setdefault("schemas", {})
    for name in _NOT_OURS:
        schemas.pop(name, None)
    for model in (Problem, FieldFault):
        schemas[model.__name__] = _schema(model.model_json_schema(ref_template=_REFERENCE))
    components["schemas"] = dict(sorted(schemas.items()))
    components["responses"] = {_name(status): found for status, found in PROBLEMS.items()}
    _share_problems(document["paths"])
    components["securitySchemes"] = {"token": _BEARER}
    document["security"] = [{"token": []}]
    return document


def _share_problems(paths: dict[str, dict[str, Any]]) -> None:
    """Have every route point at one description of a problem instead of carrying its own."""
    for operations in paths.values():
        for operation in operations.values():
            responses = operation["responses"]
            for status, found in responses.items():
                if found == _OF_STATUS.get(status):
                    responses[status] = {"$ref": f"#/components/responses/{_name(status)}"}


def _name(status: int | str) -> str:
    return f"Problem{status}"


def _schema(schema: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in schema.items() if name != "$defs"}
