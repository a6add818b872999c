"""Customers' keys, settings and usage over HTTP."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from corpus2skill.application.server.sign_in import new_token
from corpus2skill.application.server_wiring import Server, new_master_key, open_server
from corpus2skill.application.wiring import TENANT
from corpus2skill.domain.people import SCOPES
from corpus2skill.entrypoints.http.app import create_app
from corpus2skill.settings import ServerSettings
from tests.fakes.providers import KEY, ProviderServer, Script, anthropic_server
from tests.fakes.providers.behaviour import fails
from tests.fakes.providers.hosting import in_thread
from tests.http.conftest import ClientOf

PATH = "/v1/provider-credentials"
SECRET = "sk-ant-0123456789-wxyz"
NO_KEYS: tuple[tuple[dict[str, str], str], ...] = (
    ({"provider": "anthropic"}, "key_empty"),
    ({"provider": "anthropic", "secret": "   \n"}, "key_empty"),
    ({"provider": "anthropic", "secret": "sk-a\nsk-b"}, "key_unusable"),
    ({"provider": "anthropic", "secret": "sk a"}, "key_unusable"),
    ({"provider": "anthropic", "secret": "ｓｋ－全角"}, "key_unusable"),
    ({"provider": "anthropic", "secret": "k" * 10_000}, "key_too_long"),
    ({"provider": "anthropic", "secret": "k" * 100_000}, "invalid_request"),
    ({"provider": "nobody", "secret": SECRET}, "unknown_provider"),
    ({"provider": "azure", "base_url": "https://x.openai.azure.com"}, "key_empty"),
    ({"provider": "openai", "secret": SECRET, "base_url": "ftp://example.com"}, "endpoint_unusable"),
    ({"provider": "openai", "secret": SECRET, "base_url": "https://a:b@h/v1"}, "endpoint_unusable"),
    ({"provider": "openai", "secret": SECRET, "base_url": "https://[::1"}, "endpoint_unusable"),
    ({"provider": "openai", "secret": SECRET, "colour": "red"}, "invalid_request"),
)
NO_SETTINGS: tuple[dict[str, object], ...] = (
    {"chunk_limit": 5},
    {"base_url": "http://localhost"},
    {"key_file": "/etc/passwd"},
    {"model": "nobody"},
    {"model": "anthropic:a\nb"},
    {"navigation_model": "azure"},
    {"prices": "free"},
    {"month_cost": 0},
    {"month_cost": -1},
    {"month_cost": "NaN"},
    {"concurrency": 100_000},
    {"last_word": "maybe"},
)
PRIVATE = (
    "127.0.0.1",
    "localhost",
    "10.1.2.3",
    "192.168.0.9",
    "169.254.169.254",
    "[::1]",
    "[::ffff:10.0.0.1]",
    "[64:ff9b::a00:1]",
    "0.0.0.0",
    "2130706433",
    "0x7f.1",
)


@pytest.fixture
def provider() -> Iterator[ProviderServer]:
    found = anthropic_server()
    with in_thread(found):
        yield found


@pytest.mark.requirement("S-96")
def test_a_key_is_stored_and_only_its_end_is_shown(api: TestClient, server: Server) -> None:
    """Field report 21: only the last four characters; an empty field on save keeps it."""
    made = api.post(PATH, json={"provider": "anthropic", "secret": f" {SECRET}\n", "label": "本番"})
    assert made.status_code == 201
    assert made.headers["location"] == f"{PATH}/anthropic"
    body = made.json()
    assert (body["last_four"], body["label"], body["has_secret"]) == ("wxyz", "本番", True)
    kept = api.put(f"{PATH}/anthropic", json={"secret": "", "label": "試験"})
    assert (kept.json()["last_four"], kept.json()["label"]) == ("wxyz", "試験")
    ring = server.keys(TENANT)
    found = ring.key("anthropic")
    assert found is not None
    assert found.secret == SECRET
    listed = api.get(PATH)
    assert [one["last_used_at"] is not None for one in listed.json()["data"]] == [True]
    deleted = api.delete(f"{PATH}/anthropic")
    assert deleted.status_code == 200
    assert api.get(f"{PATH}/anthropic").status_code == 404
    for answer in (made, kept, listed, deleted, api.get("/v1/audit-events")):
        assert SECRET not in answer.text
        assert "0123456789" not in answer.text


@pytest.mark.requirement("S-96")
def test_what_is_no_key_is_refused_and_not_repeated(api: TestClient, server: Server) -> None:
    """Bad input: empty, white space, 10 kB, a line break, an unknown provider, a broken address."""
    for body, code in NO_KEYS:
        refused = api.post(PATH, json=body, headers={"Accept-Language": "ja"})
        assert (refused.status_code, refused.json()["code"]) == (422, code)
        secret = body.get("secret", "").strip()
        assert not secret or secret not in refused.text
    assert server.credentials.credentials(TENANT) == ()


@pytest.mark.requirement("S-96")
def test_keys_are_for_administrators_and_their_own_tenant(client_of: ClientOf) -> None:
    """Tenant isolation: another tenant's key is as one that does not exist."""
    ours, theirs = client_of("local"), client_of("acme")
    assert ours.post(PATH, json={"provider": "openai", "secret": SECRET}).status_code == 201
    assert theirs.get(PATH).json()["data"] == []
    for method, path in (("GET", "openai"), ("DELETE", "openai"), ("POST", "openai/test")):
        foreign = theirs.request(method, f"{PATH}/{path}", json={} if method == "POST" else None)
        nothing = theirs.request(
            method, f"{PATH}/{path.replace('openai', 'azure')}", json={} if method == "POST" else None
        )
        assert foreign.status_code == nothing.status_code == 404
        assert foreign.json()["code"] == nothing.json()["code"]
    for scopes in (("read", "ask"), ("write", "records")):
        assert client_of("local", *scopes).get(PATH).status_code == 403


@pytest.mark.requirement("S-100")
def test_the_environment_pays_for_the_local_tenant_of_the_embedded_default_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 6: a tenant has only its stored keys, never the server's environment."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN", "CORPUS2SKILL_MASTER_KEY"):
        monkeypatch.setenv(name, SECRET)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://gateway.internal")
    monkeypatch.setenv("AWS_REGION", "ap-northeast-1")
    embedded = open_server(tmp_path / "a", ServerSettings())
    key = embedded.keys(TENANT).key("anthropic")
    assert key is not None
    assert key.source == "ANTHROPIC_API_KEY"
    wide = open_server(tmp_path / "b", ServerSettings(host="0.0.0.0"))
    for ring in (embedded.keys("acme"), wide.keys(TENANT), wide.keys("acme")):
        assert ring.is_alone
        assert ring.key("anthropic") is None
        assert ring.variables["AWS_REGION"] == "ap-northeast-1"
        assert SECRET not in ring.variables.values()
        assert "ANTHROPIC_BASE_URL" not in ring.variables
    settings = embedded.workspace("acme").settings
    assert (settings.base_url, settings.key_file) == (None, None)


@pytest.mark.requirement("S-104")
def test_a_stored_key_is_not_sent_to_an_address_that_its_owner_did_not_give_it_for(
    api: TestClient, server: Server
) -> None:
    """Else whoever may change the address could read the key there."""
    api.post(PATH, json={"provider": "openai", "secret": SECRET})
    moved = {"base_url": "http://127.0.0.1:9/v1"}
    refused = api.put(f"{PATH}/openai", json=moved)
    assert (refused.status_code, refused.json()["code"]) == (422, "key_needed_for_address")
    assert api.put(f"{PATH}/openai", json={**moved, "secret": SECRET}).status_code == 200
    assert api.put(f"{PATH}/openai", json={**moved, "label": "社内"}).status_code == 200
    back = api.put(f"{PATH}/openai", json={})
    assert back.json()["code"] == "key_needed_for_address"
    assert server.keys(TENANT).address("openai") == moved["base_url"]


@pytest.mark.requirement("S-104")
def test_a_tenant_cannot_have_the_server_call_its_own_network(client_of: ClientOf) -> None:
    """Server-side request forgery: addresses in private ranges, in every spelling that the system takes."""
    ours, theirs = client_of("local"), client_of("acme")
    for host in PRIVATE:
        wanted = {"provider": "openai", "secret": SECRET, "base_url": f"http://{host}:8080/v1"}
        refused = theirs.post(PATH, json=wanted)
        assert refused.status_code in (422, 503)
        assert refused.json()["code"] in ("endpoint_private", "host_unresolved")
        assert ours.post(PATH, json=wanted).status_code == 201


@pytest.mark.requirement("S-96")
def test_an_address_that_wants_no_key_needs_none(api: TestClient, server: Server) -> None:
    """A server of one's own, as Ollama."""
    made = api.post(PATH, json={"provider": "openai", "base_url": "http://localhost:11434/v1"})
    assert (made.status_code, made.json()["has_secret"]) == (201, False)
    ring = server.keys(TENANT)
    assert (ring.key("openai"), ring.address("openai")) == (None, "http://localhost:11434/v1")


@pytest.mark.requirement("S-107")
def test_a_key_is_tried_by_one_call_that_somebody_said_yes_to(
    api: TestClient, provider: ProviderServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Issue 6: the test shows what it cost and said; what it cost counts."""
    caplog.set_level(logging.DEBUG)
    stored = {"provider": "anthropic", "secret": KEY, "base_url": provider.base_url}
    assert api.post(PATH, json=stored).status_code == 201
    api.patch("/v1/settings", json={"prices": "anthropic:claude-haiku-5-5=1/5"})
    unsure = api.post(f"{PATH}/anthropic/test", json={})
    assert (unsure.status_code, unsure.json()["code"]) == (409, "test_not_confirmed")
    assert len(provider.calls) == 0
    tried = api.post(f"{PATH}/anthropic/test", json={"confirm": True}).json()
    assert (tried["ok"], tried["code"]) == (True, None)
    assert tried["said"]
    assert tried["dollars"] > 0
    assert len(provider.calls.model_calls) == 1
    shown = api.get(f"{PATH}/anthropic").json()
    assert shown["last_test"] == tried
    usage = api.get("/v1/usage?by=purpose").json()
    assert [(line["key"], line["calls"]) for line in usage["data"]] == [("trial", 1)]
    assert usage["month"]["dollars"] == pytest.approx(tried["dollars"])
    provider.script = Script().always(fails("authentication", echoes_key=True))
    failed = api.post(f"{PATH}/anthropic/test", json={"confirm": True})
    assert (failed.json()["ok"], failed.json()["code"]) == (False, "key_refused")
    assert failed.json()["detail"]
    assert KEY not in failed.text + caplog.text + api.get(PATH).text
    api.patch("/v1/settings", json={"month_cost": 0.000001})
    capped = api.post(f"{PATH}/anthropic/test", json={"confirm": True})
    assert (capped.status_code, capped.json()["code"]) == (409, "month_cap_reached")


@pytest.mark.requirement("S-103")
def test_settings_are_laid_over_the_servers_and_tell_where_they_come_from(
    client_of: ClientOf, server: Server
) -> None:
    """Issue 6: only names that a tenant may set; the log says from what to what."""
    ours, theirs = client_of("local"), client_of("acme")
    before = ours.get("/v1/settings")
    assert before.headers["etag"] == '"0"'
    assert before.json()["settings"]["model"] == {"value": "offline", "origin": "server"}
    changed = ours.patch("/v1/settings", json={"summary_model": "anthropic", "month_cost": 20})
    assert changed.headers["etag"] == '"1"'
    assert changed.json()["settings"]["month_cost"] == {"value": 20.0, "origin": "tenant"}
    assert server.workspace(TENANT).settings.summary_model == "anthropic"
    assert server.workspace("acme").settings.summary_model is None
    assert theirs.get("/v1/settings").json() == before.json()
    back = ours.patch("/v1/settings", json={"month_cost": None})
    assert back.json()["settings"]["month_cost"] == {"value": None, "origin": "server"}
    told = [
        (event.object, dict(event.values))
        for event in server.audit.events(TENANT)
        if event.action == "settings.changed"
    ]
    assert told == [
        ("month_cost", {"from": 20.0, "to": "-"}),
        ("summary_model", {"from": "-", "to": "anthropic"}),
        ("month_cost", {"from": "-", "to": 20.0}),
    ]


@pytest.mark.requirement("S-103")
def test_what_is_no_setting_of_a_tenants_changes_nothing(api: TestClient, server: Server) -> None:
    """Bad input: unknown names, values of another kind, what is the operator's."""
    for body in NO_SETTINGS:
        assert api.patch("/v1/settings", json={"question_cost": 1.0, **body}).status_code == 422, body
    assert server.tenant_settings.settings(TENANT).revision == 0


@pytest.mark.requirement("S-103")
def test_of_two_who_change_what_they_saw_one_is_told(api: TestClient) -> None:
    """If-Match: 412 if someone was faster."""
    seen = api.get("/v1/settings").headers["etag"]
    found: list[int] = []

    def change(cost: float) -> None:
        answer = api.patch("/v1/settings", json={"day_cost": cost}, headers={"If-Match": seen})
        found.append(answer.status_code)

    writers = [threading.Thread(target=change, args=(cost,)) for cost in (1.0, 2.0, 3.0)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert sorted(found) == [200, 412, 412]
    assert api.patch("/v1/settings", json={}, headers={"If-Match": '"x"'}).status_code == 412


@pytest.mark.requirement("S-105")
def test_usage_has_days_and_refuses_periods_that_are_none(client_of: ClientOf) -> None:
    """Empty is told as nothing; a day is a day."""
    api = client_of()
    body = api.get("/v1/usage").json()
    assert (body["data"], body["total"]["calls"], body["month"]["cap"]) == ([], 0, None)
    assert api.get("/v1/usage?from=2026-01-01&to=2026-02-01&by=model").json()["since"] == "2026-01-01"
    assert api.get("/v1/usage?from=1999-01-01&to=1999-01-02").status_code == 200
    for query in ("from=2026-02-01&to=2026-02-01", "from=2000-01-01", "from=nothing", "by=colour"):
        assert api.get(f"/v1/usage?{query}").status_code == 422
    assert client_of("local", "read", "ask").get("/v1/usage").status_code == 403


@pytest.mark.requirement("S-98")
def test_a_server_with_another_master_key_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue, bad input: a master key that changed."""
    from corpus2skill.errors import UnusableSettings, WorkspaceUnusable

    settings = ServerSettings(host="0.0.0.0")
    with pytest.raises(UnusableSettings, match="master_key_wanted"):
        open_server(tmp_path, settings).vault.check()
    file = tmp_path.with_name("given.key")
    file.write_text(new_master_key(), encoding="ascii")
    file.chmod(0o600)
    open_server(tmp_path, replace(settings, master_key_file=str(file))).vault.check()
    monkeypatch.setenv("CORPUS2SKILL_MASTER_KEY", new_master_key())
    with pytest.raises(WorkspaceUnusable, match="master_key_wrong"):
        open_server(tmp_path, settings).vault.check()


@pytest.mark.requirement("S-101")
def test_a_running_servers_questions_notice_a_new_key(server: Server, client_of: ClientOf) -> None:
    """What is open was opened with a key: another revision is another one."""
    api = client_of()
    ring = server.keys(TENANT)
    seen = [ring.revision()]
    api.post(PATH, json={"provider": "anthropic", "secret": SECRET})
    seen.append(ring.revision())
    api.put(f"{PATH}/anthropic", json={"label": "名前だけ"})
    assert ring.revision() == seen[-1]
    api.put(f"{PATH}/anthropic", json={"secret": SECRET + "2"})
    seen.append(ring.revision())
    api.delete(f"{PATH}/anthropic")
    assert len(set(seen)) == 3
    assert ring.revision() == seen[0]


def test_the_same_store_twice_under_one_idempotency_key_is_one(server: Server) -> None:
    """interfaces.md: Idempotency-Key on every POST that creates."""
    with TestClient(create_app(server), base_url="http://localhost") as client:
        _, secret = new_token(server, TENANT, "t", SCOPES, "test")
        headers = {"Authorization": f"Bearer {secret}", "Idempotency-Key": "k1"}
        wanted = {"provider": "anthropic", "secret": SECRET}
        first = client.post(PATH, json=wanted, headers=headers)
        second = client.post(PATH, json=wanted, headers=headers)
        assert first.json() == second.json()
        created = [e for e in server.audit.events(TENANT) if e.action.startswith("provider_credential")]
        assert len(created) == 1
