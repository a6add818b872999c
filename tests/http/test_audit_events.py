"""The operators' log over HTTP."""

from __future__ import annotations

import csv
import io
import json

import pytest
from starlette.testclient import TestClient

from corpus2skill.application.server_wiring import Server
from corpus2skill.messages import LANGUAGES, has_message
from tests.http.conftest import ClientOf


@pytest.mark.requirement("S-90")
def test_what_was_done_is_told_newest_first_in_pages_and_in_words(api: TestClient) -> None:
    """Issue: an append-only log of what operators did."""
    for name in ("一", "二", "三"):
        api.post("/v1/api-tokens", json={"name": name, "scopes": ["read"]})
    headers = {"Accept-Language": "ja"}
    first = api.get("/v1/audit-events?limit=2&action=token.created", headers=headers).json()
    rest = api.get(
        f"/v1/audit-events?limit=2&action=token.created&cursor={first['next_cursor']}", headers=headers
    ).json()
    events = first["data"] + rest["data"]
    assert [event["values"]["name"] for event in events][:3] == ["三", "二", "一"]
    assert events[0]["text"] == "API トークン「三」を作りました（read）"
    assert events[0]["actor"] == api.get("/v1/me").json()["actor"]
    assert events[0]["actor_name"] == api.get("/v1/me").json()["name"]
    assert rest["next_cursor"] is None


@pytest.mark.requirement("S-90")
def test_it_is_filtered_and_exported_whole(api: TestClient, server: Server) -> None:
    """Field report: the export of a filtered list has the list's rows; cells are text, not formulas."""
    for number in range(600):
        server.audit.note("local", "user_1", "retention.run", f"{number}")
    server.audit.note("local", "user_2", "invitation.created", "link_1", name="=HYPERLINK()", role="viewer")
    server.audit.note("local", "+81", "retention.run", "@SUM(A1)")
    lines = api.get("/v1/audit-events/export?action=retention.run&actor=user_1").text.splitlines()
    assert [json.loads(line)["object"] for line in lines] == [str(number) for number in reversed(range(600))]
    exported = api.get("/v1/audit-events/export?format=csv")
    assert exported.headers["content-type"] == "text/csv; charset=utf-8"
    assert exported.headers["content-disposition"] == 'attachment; filename="audit-events.csv"'
    rows = list(csv.reader(io.StringIO(exported.content.decode("utf-8-sig"))))
    assert len(rows) == 1 + 600 + 3
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@"))]
    assert rows[1][2] == "'+81"


@pytest.mark.requirement("S-90")
@pytest.mark.parametrize(
    "query", ["since=yesterday", "until=2026-13-01", "cursor=%00", "actor=%00", "limit=0"]
)
def test_a_filter_that_means_nothing_is_refused(api: TestClient, query: str) -> None:
    """Bad input is a clear problem."""
    answer = api.get(f"/v1/audit-events?{query}")
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.requirement("S-90")
def test_it_is_for_administrators_of_the_tenant(client_of: ClientOf, server: Server) -> None:
    """Issue: tenants are kept apart."""
    server.audit.note("acme", "user_1", "retention.run", "secret of acme")
    assert client_of("local", "read", "records", "write", "ask").get("/v1/audit-events").status_code == 403
    for path in ("/v1/audit-events", "/v1/audit-events/export", "/v1/audit-events/export?format=csv"):
        assert "secret of acme" not in client_of("local").get(path).text
        assert "secret of acme" in client_of("acme").get(path).text


@pytest.mark.requirement("S-90")
def test_a_value_that_was_left_open_is_told_as_a_dash(api: TestClient) -> None:
    """No sentence shows how the program writes it."""
    api.put("/v1/retention", json={"conversations": 30})
    (event,) = api.get("/v1/audit-events", params={"action": "retention.changed"}).json()["data"]
    assert "30" in event["text"]
    assert "—" in event["text"]
    assert "None" not in event["text"]


def test_an_action_of_a_newer_release_is_told_by_its_name(api: TestClient, server: Server) -> None:
    """An older server over the same database shows what it can."""
    server.audit.note("local", "user_1", "moon.landed", "x")
    (event,) = api.get("/v1/audit-events?action=moon.landed").json()["data"]
    assert event["text"] == "moon.landed"
    assert {has_message("audit.token.created") for _ in LANGUAGES} == {True}
