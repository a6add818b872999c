"""What holds of every request, whatever its route."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from corpus2skill.application.server.sign_in import new_token
from corpus2skill.application.server_wiring import Server
from corpus2skill.entrypoints.http.app import create_app
from corpus2skill.entrypoints.http.guards import names_of
from corpus2skill.errors import WorkspaceUnusable
from corpus2skill.settings import ServerSettings
from tests.http.conftest import ClientOf


@pytest.mark.requirement("S-02")
def test_every_answer_has_a_request_id_that_stands_in_the_problem_and_in_the_log(
    api: TestClient, caplog: pytest.LogCaptureFixture
) -> None:
    """Issue 6: structured logs with request ids."""
    caplog.set_level(logging.INFO, "corpus2skill.requests")
    given = api.get("/v1/me?secret=geheim", headers={"X-Request-Id": "proxy-1.2:3_4"})
    assert given.headers["x-request-id"] == "proxy-1.2:3_4"
    refused = api.delete("/v1/api-tokens/token_none")
    assert refused.headers["x-request-id"] == refused.json()["request_id"]
    insane = api.get("/v1/me", headers={"X-Request-Id": "a b\t" * 99})
    assert insane.headers["x-request-id"].startswith("req_")
    lines = [vars(line) for line in caplog.records if line.name == "corpus2skill.requests"]
    assert [(line["method"], line["route"], line["status"]) for line in lines] == [
        ("GET", "/v1/me", 200),
        ("DELETE", "/v1/api-tokens/{token_id}", 404),
        ("GET", "/v1/me", 200),
    ]
    assert {line["tenant"] for line in lines} == {"local"}
    assert lines[1]["code"] == "thing_not_found"
    assert "geheim" not in str(lines)
    assert "token_none" not in str(lines)


@pytest.mark.requirement("S-03")
def test_problems_are_told_in_both_languages(api: TestClient) -> None:
    """interfaces.md: RFC 9457, title in Accept-Language, errors[] by field."""
    bad = {"name": "", "scopes": ["fly"]}
    told = {
        language: api.post("/v1/api-tokens", json=bad, headers={"Accept-Language": language}).json()
        for language in ("ja", "en")
    }
    assert told["ja"]["title"] == "内容に誤りがあります"
    assert told["en"]["title"] == "Cannot be processed"
    assert [fault["field"] for fault in told["ja"]["errors"]] == ["body.name", "body.scopes.0"]
    assert told["ja"]["errors"][0]["detail"] == "1 文字以上にしてください。"
    assert told["en"]["errors"][0]["detail"] == "Give more characters (at least 1)."
    for language in ("ja", "en"):
        missing = api.get("/v1/nothing", headers={"Accept-Language": language})
        assert (missing.status_code, missing.json()["code"]) == (404, "no_such_route")
        assert missing.headers["content-type"] == "application/problem+json"
    assert api.get("/nowhere").json()["title"] == "Not found"


@pytest.mark.requirement("S-04")
def test_head_is_get_without_a_body_and_options_tells_the_methods(api: TestClient) -> None:
    """RFC 9110, 9.3.2 and 9.3.7."""
    head = api.head("/v1/me")
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == str(len(api.get("/v1/me").content))
    assert api.options("/v1/api-tokens").headers["allow"] == "GET, HEAD, OPTIONS, POST"
    wrong = api.put("/v1/api-tokens", json={})
    assert (wrong.status_code, wrong.headers["allow"]) == (405, "GET, HEAD, OPTIONS, POST")


@pytest.mark.requirement("S-04")
def test_answers_are_not_guessed_at_kept_or_passed_on(api: TestClient) -> None:
    """nosniff, no-store, referrer policy: also on what was refused."""
    for answer in (
        api.get("/v1/me"),
        api.get("/v1/nothing"),
        api.get("/v1/me", headers={"Host": "evil.example"}),
    ):
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert answer.headers["referrer-policy"] == "same-origin"


@pytest.mark.requirement("S-05")
@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example:8484", "", "127.0.0.1.nip.io"])
def test_on_this_machine_alone_a_foreign_name_is_refused(api: TestClient, host: str) -> None:
    """A page elsewhere may not reach the server by having its own name lead to this machine."""
    refused = api.get("/v1/me", headers={"Host": host})
    assert (refused.status_code, refused.json()["code"]) == (421, "foreign_host")


@pytest.mark.requirement("S-05")
@pytest.mark.parametrize("host", ["localhost:8484", "127.0.0.1", "[::1]:8484", "LOCALHOST"])
def test_the_names_of_this_machine_are_answered(api: TestClient, host: str) -> None:
    """The door opens for the one it is there for."""
    assert api.get("/v1/me", headers={"Host": host}).status_code == 200


def test_public_names_are_those_that_were_named() -> None:
    """Beyond this machine every name is answered unless some are named."""
    assert names_of(ServerSettings(host="0.0.0.0")) == ()
    assert "docs.example" in names_of(ServerSettings(host="0.0.0.0", public_hosts=("docs.example",)))
    assert "docs.example" in names_of(ServerSettings(public_hosts=("docs.example",)))


@pytest.mark.requirement("S-06")
def test_a_body_over_a_megabyte_is_refused(api: TestClient) -> None:
    """What is no upload is small."""
    refused = api.post("/v1/api-tokens", json={"name": "a" * 1_100_000, "scopes": ["ask"]})
    assert (refused.status_code, refused.json()["code"]) == (413, "too_large")
    chunked = api.post("/v1/api-tokens", content=(b"x" * 100_000 for _ in range(12)))
    assert chunked.status_code == 413


@pytest.mark.requirement("S-07")
def test_a_token_that_asks_too_often_is_told_when_to_come_back(server: Server) -> None:
    """interfaces.md: 429 and Retry-After per key."""
    strict = replace(server, server_settings=ServerSettings(requests_per_minute=3))
    secrets = [new_token(strict, "local", name, ("read",), "test")[1] for name in "ab"]
    with TestClient(create_app(strict), base_url="http://localhost") as client:
        busy = {"Authorization": f"Bearer {secrets[0]}"}
        assert [client.get("/v1/me", headers=busy).status_code for _ in range(4)] == [200, 200, 200, 429]
        refused = client.get("/v1/me", headers=busy)
        assert 1 <= int(refused.headers["retry-after"]) <= 20
        assert refused.json()["code"] == "rate_limit"
        other = {"Authorization": f"Bearer {secrets[1]}"}
        assert client.get("/v1/me", headers=other).status_code == 200


@pytest.mark.requirement("S-08")
def test_health_tells_what_is_wrong(server: Server) -> None:
    """Issue 6: health and readiness."""

    def gone() -> None:
        raise WorkspaceUnusable("database_gone", path="p", reason="r")

    state = ["ok"]
    with TestClient(create_app(server, lambda: state[0]), base_url="http://localhost") as client:
        assert client.get("/healthz").json() == {"status": "ok"}
        assert client.get("/readyz").json() == {
            "ready": True,
            "checks": {"database": "ok", "disk": "ok", "worker": "ok"},
        }
        state[0] = "worker_restarting"
        ill = client.get("/readyz")
        assert (ill.status_code, ill.json()["checks"]["worker"]) == (503, "worker_restarting")
    with TestClient(create_app(replace(server, check_database=gone)), base_url="http://localhost") as client:
        assert client.get("/readyz").json()["checks"]["database"] == "database_gone"
        assert client.get("/healthz").status_code == 200


@pytest.mark.requirement("S-08")
def test_counts_are_for_this_machine_and_for_admins(
    api: TestClient, client_of: ClientOf, server: Server
) -> None:
    """Issue 6: Prometheus metrics; never a tenant's name."""
    api.get("/v1/me")
    server.measures.run("answered", 1.5, model="offline", input_tokens=10, output_tokens=2, dollars=None)
    text = api.get("/metrics").text
    assert 'corpus2skill_requests_total{method="GET",route="/v1/me",status="200"} 1.0' in text
    assert 'corpus2skill_runs_total{model="offline",outcome="answered"} 1.0' in text
    assert "local" not in text.replace("localhost", "")
    assert client_of("acme", "read").get("/metrics").status_code == 403
    assert api.get("/metrics", headers={"Authorization": ""}).status_code == 401
    with TestClient(create_app(server), base_url="http://localhost", client=("127.0.0.1", 1)) as here:
        assert here.get("/metrics").status_code == 200
        assert here.get("/metrics", headers={"X-Forwarded-For": "203.0.113.9"}).status_code == 401


def test_a_fault_of_ours_is_a_problem_with_a_request_id(
    server: Server, caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing of the traceback leaves; the operator finds it in the log."""

    def broken() -> None:
        raise RuntimeError("geheim")

    with TestClient(
        create_app(replace(server, check_database=broken)), base_url="http://localhost"
    ) as client:
        answer = client.get("/readyz", headers={"Accept-Language": "ja"})
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    assert answer.headers["x-request-id"] in answer.json()["detail"]
    assert "geheim" not in answer.text
    assert "geheim" in caplog.text


def test_under_a_sub_path_the_routes_are_found_with_it_and_without(server: Server) -> None:
    """A proxy may strip the sub-path or leave it."""
    below = replace(server, server_settings=ServerSettings(root_path="/docs/ai"))
    with TestClient(create_app(below), base_url="http://localhost") as client:
        assert client.get("/healthz").status_code == 200
        assert client.get("/docs/ai/healthz").status_code == 200
        assert client.get("/docs/ai/v1/openapi.json").json()["servers"] == [{"url": "/docs/ai"}]
