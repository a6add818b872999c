"""Customers' keys in a server that compiles and answers: used, changed, and seen nowhere."""

from __future__ import annotations

import http.client
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from corpus2skill.application.ask import AskOptions, ask
from corpus2skill.application.server.credentials import NewCredential, delete_credential, store_credential
from corpus2skill.application.server.job_estimate import estimate_job
from corpus2skill.application.server.jobs import start_job
from corpus2skill.application.server.sign_in import new_token
from corpus2skill.application.server.tenant_limits import change_settings
from corpus2skill.application.server.usage import month_of, report_usage
from corpus2skill.application.server.waiting_jobs import MONTH_CODE, wake_all
from corpus2skill.application.server_wiring import open_server
from corpus2skill.application.wiring import TENANT
from corpus2skill.domain.credential import Credential, bound_to
from corpus2skill.domain.people import SCOPES
from corpus2skill.domain.server_job import JobOptions
from corpus2skill.domain.usage import UsageKey
from corpus2skill.ports.credentials import Held
from corpus2skill.settings import ServerSettings
from tests.e2e.job_shop import CORPUS, MODEL, JobShop, opened_shop
from tests.e2e.paid import PRICE_VARIABLES, bytes_below, rules, serve
from tests.e2e.serving import ServerProcess
from tests.fakes.providers import KEY, ProviderServer, Script, anthropic_server
from tests.fakes.providers.anthropic_dialect import AnthropicDialect
from tests.fakes.providers.behaviour import edited, fails
from tests.fakes.providers.hosting import in_thread
from tests.fakes.providers.rubbish import echoes
from tests.fakes.providers.script import Asked

PATIENCE = 60.0
TENANT_B = "acme"


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobShop]:
    """The shop, whose environment has no key any more: only what is stored pays."""
    with opened_shop(tmp_path, rules(8), monkeypatch) as found:
        for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL"):
            monkeypatch.delenv(name)
        yield found


def store(shop: JobShop, tenant: str = TENANT, secret: str = KEY) -> None:
    wanted = NewCredential(provider="anthropic", secret=secret, base_url=shop.provider.base_url)
    store_credential(shop.server, shop.person(tenant), wanted)


@pytest.mark.requirement("S-100", "S-101")
def test_a_tenants_job_waits_for_its_own_key_and_goes_on_when_it_is_stored(
    shop: JobShop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: `waiting_for_key` until the tenant's key arrives, then it goes on by itself."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", shop.provider.base_url)
    shop.add_corpus(CORPUS, TENANT_B)
    worker = shop.worker()
    job = shop.until(worker, shop.start(tenant=TENANT_B), "waiting_for_key")
    assert job.cause is not None
    assert (job.cause.code, len(shop.provider.calls)) == ("key_not_stored", 0)
    store(shop, TENANT_B)
    assert shop.until(worker, job).state == "succeeded"
    delete_credential(shop.server, shop.person(TENANT_B), "anthropic")
    again = shop.until(worker, shop.start(tenant=TENANT_B, regroup=True), "waiting_for_key")
    assert again.state == "waiting_for_key"


@pytest.mark.requirement("S-101")
def test_a_key_that_is_replaced_while_a_job_runs_leaves_no_job_waiting(shop: JobShop) -> None:
    """The old key is revoked in the moment in which the new one was stored: it must not wait for it."""
    store(shop)
    dialect = shop.provider.dialect
    assert isinstance(dialect, AnthropicDialect)

    def replace_key(asked: Asked) -> None:
        if asked.call.number == 3:
            dialect.key = KEY + "-new"  # the provider knows the old one no longer
            store(shop, secret=KEY + "-new")

    shop.provider.script = Script().add(replace_key)
    worker = shop.worker()
    done = shop.until(worker, shop.start(), "succeeded", "failed", "cancelled")
    assert (done.state, done.attempt > 1) == ("succeeded", True)
    assert ("job.state", "waiting_for_key") in shop.events(done)
    assert shop.provider.calls.paid_twice == []


@pytest.mark.requirement("S-101")
def test_a_worker_that_comes_lets_jobs_go_on_whose_key_came_before_it(shop: JobShop) -> None:
    """Whatever was lost in between: a job whose key is there does not wait."""
    worker = shop.worker()
    job = shop.until(worker, shop.start(), "waiting_for_key")
    wake_all(shop.server, with_keys=True)
    assert shop.job(job).state == "waiting_for_key"
    server, person = shop.server, shop.person()
    store(shop)
    shop.until(worker, job)
    delete_credential(server, person, "anthropic")
    late = shop.until(worker, shop.start(regroup=True), "waiting_for_key")
    store_without_a_word(shop)
    wake_all(server, with_keys=True)
    assert shop.until(worker, late).state == "succeeded"


def store_without_a_word(shop: JobShop) -> None:
    """As a process does that dies before it has told the jobs."""
    credential = Credential(
        tenant=TENANT,
        provider="anthropic",
        revision="key_quiet",
        created_at="2026-04-01T00:00:00.000Z",
        changed_at="2026-04-01T00:00:00.000Z",
        changed_by="test",
        base_url=shop.provider.base_url,
    )
    held = Held(credential=credential, sealed=shop.server.vault.seal(KEY, bound_to(TENANT, "anthropic")))
    shop.server.credentials.change(TENANT, "anthropic", lambda _was: held)


@pytest.mark.requirement("S-106")
def test_a_months_cap_pauses_jobs_and_a_higher_one_lets_them_go_on(shop: JobShop) -> None:
    """Issue 6: reaching a cap, compiles pause; all compiles of the tenant share the month."""
    store(shop)
    server, person = shop.server, shop.person()
    change_settings(server, person, {"month_cost": 0.01})
    worker = shop.worker()
    job = shop.until(worker, shop.start(), "paused_budget")
    assert job.cause is not None
    assert job.cause.code == MONTH_CODE
    workspace = server.workspace(TENANT)
    assert 0 < month_of(workspace).dollars <= 0.01
    assert month_of(workspace).dollars == pytest.approx(job.progress.money.dollars)
    wake_all(server, with_keys=False)
    assert shop.job(job).state == "paused_budget"
    change_settings(server, person, {"month_cost": 5.0})
    done = shop.until(worker, job)
    assert done.state == "succeeded"
    assert shop.provider.calls.paid_twice == []
    assert month_of(server.workspace(TENANT)).dollars == pytest.approx(done.progress.money.dollars)


@pytest.mark.requirement("S-106")
def test_a_job_that_the_last_month_paused_goes_on_in_the_next(shop: JobShop) -> None:
    """A cap of a month is of that month."""
    store(shop)
    change_settings(shop.server, shop.person(), {"month_cost": 0.01})
    worker = shop.worker()
    job = shop.until(worker, shop.start(), "paused_budget")
    shop.server.jobs.change(TENANT, job.job, lambda was: replace(was, state_at="2020-01-31T23:59:59.999Z"))
    wake_all(shop.server, with_keys=False)
    assert shop.job(job).state == "queued"


@pytest.mark.requirement("S-105")
def test_usage_tells_what_was_paid_whichever_way_it_is_summed_and_whatever_is_deleted(
    shop: JobShop,
) -> None:
    """Issue 6: tokens and money of compiles; unknown money is a number of calls, never 0."""
    store(shop)
    worker = shop.worker()
    done = shop.until(worker, shop.start())
    keys: tuple[UsageKey, ...] = ("day", "model", "purpose", "corpus")
    for by in keys:
        report = report_usage(shop.server, TENANT, by, None, None)
        assert report.total.calls == len(shop.answered) == sum(one.calls for one in report.sums.values())
        assert report.total.dollars == pytest.approx(done.progress.money.dollars)
        assert report.total.input_tokens == done.progress.money.input_tokens
    assert list(report_usage(shop.server, TENANT, "corpus", None, None).sums) == [CORPUS]
    shop.server.workspace(TENANT).results().forget(CORPUS, [])
    assert report_usage(shop.server, TENANT, "day", None, None).total == report.total
    assert report_usage(shop.server, TENANT_B, "day", None, None).total.calls == 0


@pytest.mark.requirement("S-105")
def test_money_that_nobody_knows_is_counted_in_calls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unknown is not 0."""
    with opened_shop(tmp_path, rules(3), monkeypatch) as priced:
        for name in PRICE_VARIABLES:
            monkeypatch.delenv(name)
        shop = replace(priced, server=open_server(priced.server.home, ServerSettings()))
        estimate = estimate_job(shop.server, shop.person(), CORPUS, JobOptions(model=MODEL))
        job = start_job(shop.server, shop.person(), CORPUS, JobOptions(), estimate.estimate)
        assert shop.until(shop.worker(), job).state == "succeeded"
        total = report_usage(shop.server, TENANT, "day", None, None).total
        assert total.calls == total.unpriced == len(shop.answered) > 0
        assert total.dollars == 0.0


class Caller:
    """A client of a real server that keeps every byte that it was sent."""

    def __init__(self, server: ServerProcess, token: str) -> None:
        self._server = server
        self._token = token
        self.heard: list[str] = []

    def ask(self, method: str, path: str, body: object = None, kind: str = "application/json") -> Any:
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self._token}", **({"Content-Type": kind} if data else {})}
        connection = http.client.HTTPConnection(
            self._server.address.hostname or "", self._server.address.port, timeout=30
        )
        try:
            connection.request(method, path, data, headers)
            answer = connection.getresponse()
            text = answer.read().decode("utf-8")
            self.heard.append(repr(answer.getheaders()) + text)
        finally:
            connection.close()
        assert answer.status < 500, text
        try:
            return json.loads(text)
        except ValueError:
            return text

    def upload(self, corpus: str, documents: dict[str, str]) -> None:
        boundary = "x0x0x"
        parts = "".join(
            f'--{boundary}\r\nContent-Disposition: form-data; name="files"; filename="{name.replace("/", "-")}"'
            f"\r\nContent-Type: text/markdown\r\n\r\n{text}\r\n"
            for name, text in documents.items()
        )
        sent = f"{parts}--{boundary}--\r\n".encode()
        self.ask("POST", f"/v1/corpora/{corpus}/documents", sent, f"multipart/form-data; boundary={boundary}")

    def until(self, path: str, *states: str) -> Any:
        until = time.monotonic() + PATIENCE
        while True:
            found = self.ask("GET", path)
            if found.get("state", found.get("outcome")) in states or found.get("ended_at"):
                return found
            assert time.monotonic() < until, found
            time.sleep(0.1)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    found = anthropic_server()
    with in_thread(found):
        serve(found, "anthropic", monkeypatch)
        for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_BASE_URL"):
            monkeypatch.delenv(name)
        yield found


@pytest.mark.requirement("S-102")
def test_a_key_is_in_no_answer_and_no_file_of_a_server_whose_provider_repeats_it(
    tmp_path: Path, provider: ProviderServer
) -> None:
    """Field reports 21 and 29: a grep over a whole run, with a real worker and a provider that echoes the key."""
    home = tmp_path / "home"
    _, token = new_token(open_server(home, ServerSettings()), TENANT, "t", SCOPES, "test")
    with ServerProcess(home, "--log-format", "json") as server:
        caller = Caller(server, token)
        stored = {"provider": "anthropic", "secret": KEY, "base_url": provider.base_url}
        caller.ask("POST", "/v1/provider-credentials", {**stored, "provider": KEY})
        caller.ask("POST", "/v1/provider-credentials", stored)
        provider.script = Script().always(fails("authentication", echoes_key=True))
        caller.ask("POST", "/v1/provider-credentials/anthropic/test", {"confirm": True})
        caller.ask("PATCH", "/v1/settings", {"model": "anthropic", "month_cost": 5.0})
        caller.ask("POST", "/v1/corpora", {"corpus": "kb"})
        caller.upload("kb", rules(6))
        job = caller.ask("POST", "/v1/corpora/kb/jobs", {"max_cost": 2.0})
        path = f"/v1/jobs/{job['job_id']}"
        assert caller.until(path, "waiting_for_key")["state"] == "waiting_for_key"
        provider.script = (
            Script()
            .on_call(2, fails("server_error", echoes_key=True))
            .share(0.4, edited(echoes(KEY)), seed=1)
        )
        caller.ask("PUT", "/v1/provider-credentials/anthropic", stored | {"provider": "anthropic"})
        caller.ask(
            "PUT", "/v1/provider-credentials/anthropic", {"secret": KEY, "base_url": provider.base_url}
        )
        done = caller.until(path, "succeeded", "failed", "paused_budget")
        assert done["state"] == "succeeded", done
        provider.script = Script().always(edited(echoes(KEY)))
        session = caller.ask("POST", "/v1/sessions", {"corpus": "kb"})["session_id"]
        run = caller.ask("POST", f"/v1/sessions/{session}/runs", {"question": "解約は？"})["run_id"]
        caller.until(f"/v1/runs/{run}", "answered")
        for seen in ("/v1/records", "/v1/audit-events", "/v1/usage", "/v1/settings", f"{path}/events"):
            caller.ask("GET", seen)
        caller.ask("GET", f"/v1/runs/{run}/events")
        assert KEY in "".join(call.output_text for call in provider.calls.answered)
        assert server.stop() == 0
        assert server.process.stdout is not None
        logged = server.log() + server.process.stdout.read()
    assert len(provider.calls.answered) > 6
    assert KEY not in logged
    assert KEY not in "".join(caller.heard)
    assert KEY.encode() not in bytes_below(home)
    assert (home / "master.key").stat().st_mode & 0o777 == 0o600


@pytest.mark.requirement("S-106")
def test_a_question_beyond_the_month_is_not_sent(shop: JobShop) -> None:
    """Issue 6: questions end with outcome budget; compiles and questions share the month."""
    store(shop)
    server = shop.server
    worker = shop.worker()
    shop.until(worker, shop.start())
    spent = month_of(server.workspace(TENANT)).dollars
    change_settings(server, shop.person(), {"navigation_model": "anthropic", "month_cost": spent + 0.0001})
    before = len(shop.provider.calls)

    async def asked() -> str:
        options = AskOptions(question="解約は？", corpus=CORPUS)
        record = await ask(server.workspace(TENANT), options, lambda _event: None)
        assert record.error_code == MONTH_CODE
        return record.outcome

    assert anyio.run(asked) == "budget"
    assert len(shop.provider.calls) == before
    change_settings(server, shop.person(), {"month_cost": spent + 1})

    async def answered() -> str:
        options = AskOptions(question="解約は？", corpus=CORPUS)
        return (await ask(server.workspace(TENANT), options, lambda _event: None)).outcome

    assert anyio.run(answered) != "budget"
    report = report_usage(server, TENANT, "purpose", None, None)
    assert report.sums["navigate"].calls == 2
    assert report.month.dollars > spent
