"""The reference of the HTTP API lists every route of the OpenAPI document.

After a change that is meant, write it anew with `CORPUS2SKILL_UPDATE_DOCS=1 pytest tests/unit/test_http_api_docs.py`.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parent.parent.parent / "docs"
_ROUTES = re.compile(r"(<!-- routes -->\n)(.*?)(<!-- /routes -->)", re.DOTALL)


@pytest.mark.parametrize("language", ["ja", "en"])
def test_every_route_is_listed_in_its_own_words(language: str) -> None:
    """house-style.md, rule 43; the document itself is held by tests/http/test_openapi.py."""
    page = DOCS / language / "reference" / "http-api.md"
    shown = page.read_text(encoding="utf-8")
    document = json.loads((DOCS / "reference" / "openapi.json").read_text(encoding="utf-8"))
    made = _ROUTES.sub(lambda block: block[1] + "".join(_lines(language, document)) + block[3], shown)
    if os.environ.get("CORPUS2SKILL_UPDATE_DOCS"):
        page.write_text(made, encoding="utf-8")
    else:
        assert shown == made, "see the head of this file"


def _lines(language: str, document: dict[str, Any]) -> Iterator[str]:
    operations = [
        (operation.get("tags", ["-"])[0], f"`{method.upper()} {path}`", _sentence(operation["description"]))
        for path, methods in document["paths"].items()
        if path.startswith("/v1/")
        for method, operation in methods.items()
    ]
    heading = {"ja": "| 経路 | 説明 |", "en": "| route | what it does |"}[language]
    for tag, group in groupby(sorted(operations, key=lambda one: one[0]), key=lambda one: one[0]):
        yield f"\n### {tag}\n\n{heading}\n|---|---|\n"
        yield from (f"| {route} | {text} |\n" for _, route, text in group)
    yield "\n"


def _sentence(description: str) -> str:
    """The first paragraph's first sentence, on one line."""
    paragraph = " ".join(description.split("\n\n")[0].split())
    first = re.match(r".*?[.](?= [A-Z`]|$)", paragraph)
    return (first[0] if first else paragraph).replace("|", "\\|")
