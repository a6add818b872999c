"""Every route of the OpenAPI document, asked by one tenant for what belongs to another."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from corpus2skill.application.server_wiring import Server
from tests.http.answering import QUESTION, compile_corpus
from tests.http.conftest import ClientOf
from tests.http.openapi_examples import Operation, operations

Ids = dict[str, str]

NOBODYS = {"version": "98", "before": "98", "after": "98", "doc_id": "doc_chunk_98"}
"""Numbers of things within a corpus: those of another tenant's are the same as one's own."""
_MAKES_ITS_OWN = {"save_provider_credential"}
"""The name in the path is of a kind that everybody may have one of; what is there of another's is not looked at."""
_FOR_PEOPLE_ALONE = '"code":"people_only"'
"""What a token is told whatever it names."""


@pytest.fixture
def both(client_of: ClientOf, server: Server, tmp_path: Path) -> tuple[TestClient, Ids, TestClient, Ids]:
    """Two tenants that each have one of everything, with their ids by the name of the path's parameter."""
    return (
        ours := client_of("acme"),
        seeded(ours, server, "acme", tmp_path / "a"),
        theirs := client_of("other"),
        seeded(theirs, server, "other", tmp_path / "b"),
    )


def seeded(client: TestClient, server: Server, tenant: str, folder: Path) -> Ids:
    """Make one of everything that a path can name."""
    corpus = f"corpus-{tenant}"
    made = {
        "corpus": corpus,
        "token_id": created(client, "/v1/api-tokens", json={"name": "t", "scopes": ["ask"]})["token_id"],
    }
    created(client, "/v1/corpora", json={"corpus": corpus})
    files = {"files": ("規約.txt", "年額プランの解約は末日まで。".encode(), "text/plain")}
    handed_in = created(client, f"/v1/corpora/{corpus}/documents", files=files)
    made["document_id"] = first_id(handed_in, "document_id")
    compile_corpus(server, folder, tenant, corpus)
    made["job_id"] = first_id(created(client, f"/v1/corpora/{corpus}/jobs", json={}), "job_id")
    session = created(client, "/v1/sessions", json={"corpus": corpus})
    made["session_id"] = session["session_id"]
    run = created(client, f"/v1/sessions/{session['session_id']}/runs", json={"question": QUESTION})
    made["run_id"] = run["run_id"]
    made["source"] = "chunk_1"
    invitation = created(client, "/v1/invitations", json={"name": "花子", "role": "viewer"})
    made["invitation_id"] = first_id(invitation, "invitation_id")
    hooks = {"url": "https://example.jp/hooks", "kinds": ["run.not_found"]}
    made["endpoint_id"] = first_id(created(client, "/v1/webhook-endpoints", json=hooks), "endpoint_id")
    sent = created(client, f"/v1/webhook-endpoints/{made['endpoint_id']}/ping")
    made["delivery_id"] = first_id(sent, "delivery_id")
    hold = {"kind": "end_user", "name": "客", "reason": "訴訟"}
    made["hold_id"] = first_id(created(client, "/v1/retention/holds", json=hold), "hold_id")
    question = {"question": QUESTION, "expects_not_found": True}
    asked = created(client, f"/v1/corpora/{corpus}/test-questions", json=question)
    made["question_id"] = asked["question_id"]
    tested = created(client, f"/v1/corpora/{corpus}/test-runs", json={"version": 1})
    made["test_run_id"] = tested["test_run_id"]
    return made | {"version": "1", "before": "1", "after": "1", "doc_id": "doc_chunk_1"}


def created(client: TestClient, path: str, **body: Any) -> Any:
    answer = client.post(path, **body)
    assert answer.status_code in (200, 201, 202), (path, answer.text)
    return answer.json()


def first_id(found: object, name: str) -> str:
    """The first value of this name, however deep."""
    match = re.search(rf'"{name}": "([^"]+)"', json.dumps(found))
    assert match, (name, found)
    return match[1]


def nothing_like(value: str) -> str:
    """An id of the same form that there is not."""
    if value in NOBODYS.values():
        return value.replace("98", "99")
    head, mark, _ = value.rpartition("_")
    return f"{head}{mark}{'0' * 26}" if mark else "corpus-none"


@pytest.mark.requirement("S-14")
def test_another_tenant_s_things_are_as_those_that_do_not_exist(
    both: tuple[TestClient, Ids, TestClient, Ids],
) -> None:
    """Issue 6: 404, and the same body as for what does not exist; every route, also those that come later."""
    _, foreign, client, own = both
    walked, faults = 0, list[str]()
    for operation in operations(client.get("/v1/openapi.json").json()):
        for place, name in enumerate(() if operation.name in _MAKES_ITS_OWN else operation.names):
            before = {each: own.get(each, "x") for each in operation.names[:place]}
            after = {each: foreign.get(each, "x") for each in operation.names[place:]}
            theirs = NOBODYS.get(name) or foreign.get(name, f"{name}_{'1' * 26}")
            found = asked(client, operation, {**before, **after, name: theirs})
            missing = asked(client, operation, {**before, **after, name: nothing_like(theirs)})
            walked += 1
            if found != missing or not (found[0] == 404 or _FOR_PEOPLE_ALONE in found[1]):
                faults.append(f"{operation.name} by {name}: {found} but {missing}")
    assert faults == []
    assert walked > 20


def asked(client: TestClient, operation: Operation, ids: Ids) -> tuple[int, str]:
    """Status and body, without what names the request and the thing asked for."""
    answer = client.request(
        operation.method.upper(),
        operation.path.format(**ids),
        headers={"X-Request-Id": "same", "If-Match": '"1"'},
        **operation.request(),
    )
    text = answer.text
    for name, value in ids.items():
        text = text.replace(value, f"<{name}>")
    return answer.status_code, text


@pytest.mark.requirement("S-14")
def test_lists_tell_of_the_caller_s_tenant_alone(both: tuple[TestClient, Ids, TestClient, Ids]) -> None:
    """Issue 6: every list, and every export."""
    _, foreign, client, _ = both
    ids = [value for name, value in foreign.items() if name != "source" and name not in NOBODYS]
    for operation in operations(client.get("/v1/openapi.json").json()):
        is_list = operation.method == "get" and not operation.names and "events" not in operation.path
        if is_list and operation.path.startswith("/v1/"):
            answer = client.get(operation.path, **operation.request())
            is_answered = answer.status_code in (200, 204, 422) or _FOR_PEOPLE_ALONE in answer.text
            assert is_answered, (operation.name, answer.text)
            assert [one for one in ids if one in answer.text] == [], operation.name
