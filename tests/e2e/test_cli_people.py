"""The operator's commands for tenants, people and tokens, and what the command line notes of itself."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from corpus2skill.application.note_deed import os_actor
from corpus2skill.application.server_wiring import open_server
from corpus2skill.application.show_records import verify_records
from corpus2skill.domain.audit import AuditEvent
from corpus2skill.entrypoints.http.app import create_app
from corpus2skill.settings import ServerSettings
from tests.e2e.command_line import CommandLine, write_documents
from tests.e2e.serving import ServerProcess
from tests.e2e.texts import ANNUAL, DOCUMENTS

PASSWORD = b"correct horse battery\n"
FROM_OURS = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def cli(tmp_path: Path) -> CommandLine:
    return CommandLine(workspace=tmp_path / "作業")


def noted(cli: CommandLine) -> list[AuditEvent]:
    """The log of the local tenant, oldest first."""
    return list(open_server(cli.workspace, ServerSettings()).audit.events("local"))[::-1]


def browser(cli: CommandLine) -> TestClient:
    server = replace(open_server(cli.workspace, ServerSettings()))
    return TestClient(
        create_app(server), base_url="http://127.0.0.1:8484", headers=FROM_OURS, follow_redirects=False
    )


@pytest.mark.requirement("S-94")
def test_an_owner_is_added_by_the_operator_and_signs_in(cli: CommandLine) -> None:
    """Issue: accounts, before others than this machine reach the server."""
    added = cli("people", "add", "田中", "--role", "owner", "--json", stdin=PASSWORD)
    assert added.code == 0
    assert added.json["role"] == "owner"
    assert added.json["has_password"] is True
    data = {"name": "田中", "password": PASSWORD.decode().strip()}
    assert browser(cli).post("/sign-in", data=data).status_code == 303
    (listed,) = cli("people", "list", "--json").json
    assert listed["name"] == "田中"
    assert "田中" in cli("people").out


@pytest.mark.requirement("S-94", "S-84", "S-87")
def test_the_operator_meets_the_same_rules_as_everybody(cli: CommandLine) -> None:
    """The same use cases as HTTP."""
    for arguments, stdin, code, error in (
        (("people", "add", "田中", "--role", "owner"), b"short\n", 2, "password_short"),
        (("people", "add", "田中", "--role", "owner"), b"", 2, "password_short"),
        (("people", "add", "田中", "--role", "owner"), PASSWORD, 0, None),
        (("people", "add", "田中"), PASSWORD, 2, "member_already"),
        (("people", "remove", "田中"), b"", 2, "last_owner"),
        (("people", "role", "田中", "viewer"), b"", 2, "last_owner"),
        (("people", "reset", "鈴木"), PASSWORD, 5, "thing_not_found"),
        (("people", "add", "佐藤", "--tenant", "acme"), PASSWORD, 5, "thing_not_found"),
        (("tenants", "add", "ACME"), b"", 2, "tenant_name"),
        (("tenants", "add", "local"), b"", 2, "tenant_exists"),
        (("tokens", "add", "夜間", "--scope", "everything"), b"", 2, "no_such_scope"),
        (("tokens", "revoke", "token_nothing"), b"", 5, "thing_not_found"),
    ):
        ran = cli(*arguments, "--json", stdin=stdin)
        assert ran.code == code, arguments
        assert error is None or ran.json["error"]["code"] == error


@pytest.mark.requirement("S-83", "S-86", "S-80")
def test_links_are_printed_alone_and_work_in_a_browser(cli: CommandLine) -> None:
    """Standard output is the link; under another address where the operator names one."""
    invited = cli(
        "people", "add", "佐藤", "--role", "owner", "--link", "--address", "https://docs.example.jp/c2s/"
    )
    assert invited.out.startswith("https://docs.example.jp/c2s/invitation/")
    path = "/invitation/" + invited.out.strip().rpartition("/")[2]
    data = {"name": "佐藤", "password": PASSWORD.decode().strip()}
    assert browser(cli).post(path, data=data).status_code == 303
    reset = cli("people", "reset", "佐藤", "--link").out.strip()
    assert reset.startswith("http://127.0.0.1:8484/reset/")
    assert browser(cli).get(reset.removeprefix("http://127.0.0.1:8484")).status_code == 200
    link = cli("sign-in-link", "佐藤", "--json").json["url"]
    code = link.partition("code=")[2]
    assert browser(cli).post("/sign-in/link", data={"code": code}).status_code == 303


@pytest.mark.requirement("S-80")
def test_a_sign_in_link_of_a_new_workspace_is_its_owners(cli: CommandLine) -> None:
    """`sign-in-link` needs nothing before it."""
    link = cli("sign-in-link").out.strip()
    visitor = browser(cli)
    visitor.post("/sign-in/link", data={"code": link.partition("code=")[2]})
    assert visitor.get("/v1/me").json()["scopes"] == ["admin", "ask", "read", "records", "write"]
    assert cli("tenants", "add", "acme").code == 0
    assert cli("sign-in-link", "--tenant", "acme").code == 5


@pytest.mark.requirement("S-80")
def test_a_sign_in_link_leads_to_the_server_that_is_running(cli: CommandLine) -> None:
    """Whatever port `serve` was given; once it is gone, killed even, the settings say where."""
    with ServerProcess(cli.workspace, "--root-path", "/docs") as server:
        link = cli("sign-in-link").out.strip()
        assert link.startswith(f"{server.told['url']}/sign-in?code=")
        assert not link.startswith("http://127.0.0.1:8484")
        assert cli("sign-in-link", "--address", "https://a.jp").out.startswith("https://a.jp/sign-in?")
    assert cli("sign-in-link").out.startswith("http://127.0.0.1:8484/sign-in?")


@pytest.mark.requirement("S-94")
def test_with_a_database_the_command_line_shows_what_the_server_keeps_there(
    cli: CommandLine, postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question asked through one is in the records of the other, and a check of none is no check."""
    monkeypatch.setenv("CORPUS2SKILL_DATABASE_URL", postgres_url.replace("+psycopg", ""))
    assert cli("compile", write_documents(tmp_path / "d", DOCUMENTS["ja"]), "--corpus", "a").code == 0
    assert cli("ask", ANNUAL["ja"], "--corpus", "a").code == 0
    assert cli("chat", "--corpus", "a", stdin=f"{ANNUAL['ja']}\n".encode()).code == 0
    server = open_server(cli.workspace, ServerSettings(database_url=postgres_url))
    assert verify_records(server.workspace("local")).records == 2
    assert not list(cli.workspace.glob("records*"))
    assert len(cli("records", "--json").out.splitlines()) > 1
    assert cli("records", "verify", "--json").json["records"] == 2
    assert cli("doctor", "--json").json["workspace"]["records"]["records"] == 2
    monkeypatch.setenv("CORPUS2SKILL_DATABASE_URL", "postgresql://u:geheim@127.0.0.1:1/d")
    gone = cli("records", "verify")
    assert gone.code == 8
    assert "geheim" not in gone.err
    monkeypatch.setenv("CORPUS2SKILL_DATABASE_URL", "mysql://u:geheim@h/d")
    assert cli("records").code == 2


def test_one_entry_is_not_called_entries(cli: CommandLine) -> None:
    assert "(entries: 0)" in cli("queue", "rebuild").out


@pytest.mark.requirement("S-94", "S-88")
def test_tenants_are_added_and_people_belong_to_several(cli: CommandLine) -> None:
    """Issue: more tenants by the operator on the command line."""
    cli("people", "add", "田中", "--role", "owner", stdin=PASSWORD)
    assert cli("tenants", "add", "acme").code == 0
    assert cli("people", "add", "田中", "--role", "viewer", "--tenant", "acme").code == 0
    assert [(line["tenant"], line["members"]) for line in cli("tenants", "list", "--json").json] == [
        ("local", 1),
        ("acme", 1),
    ]
    assert cli("people", "role", "田中", "owner", "--tenant", "acme", "--json").json["role"] == "owner"


@pytest.mark.requirement("S-89")
def test_a_token_is_printed_once_and_works_until_it_is_revoked(cli: CommandLine) -> None:
    """The same tokens as over HTTP."""
    secret = cli("tokens", "add", "夜間", "--scope", "read").out.strip()
    client = browser(cli)
    client.headers["Authorization"] = f"Bearer {secret}"
    assert client.get("/v1/me").json()["scopes"] == ["read"]
    (listed,) = cli("tokens", "list", "--json").json
    assert secret not in str(listed)
    assert listed["created_by"] == os_actor()
    assert cli("tokens", "revoke", listed["token_id"]).code == 0
    assert client.get("/v1/me").status_code == 401


@pytest.mark.requirement("S-91")
def test_what_commands_do_is_noted_with_who_did_it(cli: CommandLine, tmp_path: Path) -> None:
    """Field report 26: ingest and delete are recorded with their actor, also at the machine itself."""
    documents = write_documents(tmp_path / "d", DOCUMENTS["ja"])
    assert cli("compile", documents).code == 0
    assert cli("compile", documents).code == 0  # nothing is new: nothing is noted
    (documents / "新.md").write_text("# 新しい案内\n\n新しい案内の本文です。", encoding="utf-8")
    cli("compile", documents)
    cli("rollback")
    cli("activate", "2")
    cli("remove", "新.md", "--yes")
    cli("remove", "新.md", "--undo", "--yes")
    cli("ask", "年額プランを解約すると返金されますか？", "--user", "客")
    cli("records", "delete", "--user", "客")
    cli("records", "delete", "--user", "客", "--yes")
    cli("prune")
    cli("prune", "--yes")
    events = noted(cli)
    assert {event.actor for event in events} == {os_actor()}
    assert [event.action for event in events][:7] == [
        "version.compiled",
        "version.compiled",
        "version.rolled_back",
        "version.activated",
        "documents.removed",
        "documents.readmitted",
        "records.deleted",
    ]
    assert [event.action for event in events][7:] == ["versions.pruned"]
    assert dict(events[3].values) == {"before": 1, "after": 2}
    assert dict(events[4].values) == {"count": 1, "sources": "新.md"}
    assert dict(events[6].values) == {"count": 1}


@pytest.mark.requirement("S-91")
def test_what_cannot_be_noted_is_done_and_said(cli: CommandLine, tmp_path: Path) -> None:
    """The deed is not undone because the log is damaged."""
    documents = write_documents(tmp_path / "d", DOCUMENTS["en"])
    cli.workspace.mkdir()
    (cli.workspace / "state.db").write_bytes(b"this is no database" * 100)
    ran = cli("compile", documents)
    assert ran.code == 0
    assert "could not be noted" in ran.err or "書けませんでした" in ran.err
