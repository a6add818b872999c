"""Runs of a real server process: killed in the middle, begun again, asked about what it left."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import urlsplit

import pytest

from corpus2skill.application.server.sign_in import new_token
from corpus2skill.application.server_wiring import Server, open_server
from corpus2skill.application.show_records import show_record, verify_records
from corpus2skill.application.wiring import TENANT
from corpus2skill.domain.people import SCOPES
from corpus2skill.settings import ServerSettings
from tests.e2e.paid import serve
from tests.e2e.serving import ServerProcess
from tests.fakes.providers import ProviderServer
from tests.fakes.providers.behaviour import slow
from tests.fakes.providers.script import Script
from tests.http.answering import Client, compile_corpus


@pytest.fixture
def server(tmp_path: Path) -> Server:
    server = open_server(tmp_path / "home", ServerSettings())
    compile_corpus(server, tmp_path / "documents")
    return server


@pytest.mark.requirement("S-66")
def test_a_run_of_a_killed_server_is_closed_by_the_next_one_at_once(
    server: Server, threaded_openai: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Field reports: an ended run never shows a spinner; a stream that was cut goes on to the end."""
    serve(threaded_openai, "openai", monkeypatch)
    threaded_openai.script = Script().for_calls(2, 99, slow(120))
    _, secret = new_token(server, TENANT, "test", SCOPES, "test")
    environment = {"CORPUS2SKILL_NAVIGATION_MODEL": "openai:gpt-5-mini"}
    with ServerProcess(server.home, environment=environment) as process:
        client = Client(urlsplit(str(process.told["url"])).port or 0, secret)
        run = client.begin()
        with client.watching(f"/v1/runs/{run}/events") as events:
            seen = next(event for event in events if event.kind == "node.visited")
        assert client.ask("GET", f"/v1/runs/{run}")[1]["state"] == "running"
        process.process.kill()
    with ServerProcess(server.home, environment=environment) as process:
        client = Client(urlsplit(str(process.told["url"])).port or 0, secret)
        rest = client.events(f"/v1/runs/{run}/events", last=str(seen.number))
        assert (rest[-1].kind, rest[-1].data["outcome"]) == ("run.finished", "stopped")
        _, shown, _ = client.ask("GET", f"/v1/runs/{run}")
        assert (shown["state"], shown["outcome"]) == ("finished", "stopped")
        assert shown["trail"][0]["n"] == 1
    workspace = server.workspace(TENANT)
    assert show_record(workspace, run).outcome == "stopped"
    verdict = verify_records(workspace)
    assert (verdict.records, verdict.faults) == (1, ())
