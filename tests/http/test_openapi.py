"""The OpenAPI document, and whether the API is as it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import Case, GenerationMode, checks
from starlette.testclient import TestClient

from corpus2skill.application.server.sign_in import new_token
from corpus2skill.application.server_wiring import open_server
from corpus2skill.domain.people import SCOPES
from corpus2skill.entrypoints.http.app import create_app
from corpus2skill.settings import ServerSettings
from tests.http.openapi_examples import operations
from tests.http.test_isolation import seeded
from tools.write_openapi import FILE, document

_CHECKS = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]


@pytest.mark.requirement("S-13")
def test_the_document_in_the_repository_is_that_of_the_routes() -> None:
    """interfaces.md: committed and compared; `make openapi` writes it again."""
    assert FILE.read_text(encoding="utf-8") == document(), "run: make openapi"


@pytest.mark.requirement("S-13")
def test_every_operation_has_a_name_of_its_own_a_description_and_its_problems(api: TestClient) -> None:
    """Programs are made from it: names are stable and say what they do."""
    described = api.get("/v1/openapi.json").json()
    found = list(operations(described))
    names = [operation.name for operation in found]
    assert len(names) == len(set(names))
    assert [name for name in names if not re.fullmatch(r"[a-z]+(_[a-z]+)*", name)] == []
    assert [operation.name for operation in found if not operation.described.get("description")] == []
    of_api = [operation for operation in found if operation.path.startswith("/v1/")]
    assert all("4XX" in operation.described["responses"] for operation in of_api)
    assert described["openapi"].startswith("3.1")


@pytest.mark.requirement("S-13")
def test_whatever_is_sent_is_answered_as_the_document_says(tmp_path: Path) -> None:
    """Issue 6: schemathesis over the document: no 5xx, no response outside its schema."""
    assert bad_answers(tmp_path, examples=4) == []


@pytest.mark.soak
def test_whatever_is_sent_at_length_is_answered_as_the_document_says(tmp_path: Path) -> None:
    """The same with many more requests."""
    assert bad_answers(tmp_path, examples=300) == []


def bad_answers(folder: Path, examples: int) -> list[str]:
    """Send made-up requests, right and wrong ones, to every operation that ends by itself."""
    server = open_server(folder / "home", ServerSettings(requests_per_minute=100_000_000))
    _, secret = new_token(server, "local", "walker", SCOPES, "test")
    faults = list[str]()
    with TestClient(
        create_app(server),
        base_url="http://localhost",
        headers={"Authorization": f"Bearer {secret}"},
        raise_server_exceptions=False,
    ) as client:
        schema = schemathesis.openapi.from_dict(client.get("/v1/openapi.json").json())
        ids = seeded(client, server, "local", folder / "documents")
        walked = [found.ok() for found in schema.exclude(path_regex=r"/events$").get_all_operations()]
        for operation in sorted(walked, key=lambda one: one.method.upper() == "DELETE"):
            real = {name: ids[name] for name in re.findall(r"{(\w+)}", operation.path) if name in ids}
            right = operation.as_strategy(path_parameters=real or None)
            wrong = operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)
            for strategy in (right, wrong):
                faults.extend(faults_of(client, strategy, examples))
    return faults


def faults_of(client: TestClient, strategy: object, examples: int) -> list[str]:
    @seed(20260401)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=strategy)  # type: ignore[arg-type]
    def ask(case: Case) -> None:
        wanted = case.as_transport_kwargs(base_url="http://localhost")
        sent = requests.Request(**wanted).prepare()
        sent.headers.pop("Authorization", None)  # a made-up token would get no further than the door
        answer = client.request(
            sent.method or "", sent.url or "", headers=dict(sent.headers), content=sent.body
        )
        case.validate_response(answer, checks=_CHECKS)

    try:
        ask()
    except Unsatisfiable:  # nothing can be wrong about a request without parameters
        return []
    except (checks.Failure, checks.FailureGroup) as error:
        return [f"{error} {getattr(error, 'exceptions', '')}"]
    return []
