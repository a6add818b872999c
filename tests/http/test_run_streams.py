"""Runs and their events over a real connection: cut, watched by many, cancelled, stopped, left behind by the dead."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from corpus2skill.application.server.runs import Order, RunHost
from corpus2skill.application.server_wiring import Server, open_server
from corpus2skill.application.show_records import show_record
from corpus2skill.application.wiring import TENANT
from corpus2skill.domain.event_log import NewEvent
from corpus2skill.domain.hosted import HostedRun, HostedSession
from corpus2skill.domain.run import Outcome
from corpus2skill.errors import ThingNotFound, TooMany
from corpus2skill.settings import ServerSettings
from tests.e2e.paid import serve
from tests.fakes.providers import ProviderServer
from tests.fakes.providers.behaviour import Behaviour, fails, slow
from tests.fakes.providers.script import Script
from tests.http.answering import CORPUS, QUESTION, Client, Told, compile_corpus, serving
from tests.ports.runs import record, visit

MODEL = "openai:gpt-5-mini"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def provider(threaded_openai: ProviderServer, monkeypatch: pytest.MonkeyPatch) -> ProviderServer:
    """A paid model behind the server, as slow as its script says."""
    serve(threaded_openai, "openai", monkeypatch)
    monkeypatch.setenv("CORPUS2SKILL_NAVIGATION_MODEL", MODEL)
    return threaded_openai


def opened(home: Path, **settings: object) -> Server:
    server = open_server(home, replace(ServerSettings(), **settings))
    compile_corpus(server, home.parent / "documents")
    return server


@pytest.fixture
def client(home: Path) -> Iterator[Client]:
    """A real server with the offline engine."""
    with serving(opened(home)) as client:
        yield client


def merged(events: list[Told]) -> list[tuple[str, object]]:
    """Kinds and data, texts that follow each other made one: the same however often it was cut."""
    told: list[tuple[str, object]] = []
    for event in events:
        if event.kind == "text.delta" and told and told[-1][0] == "text.delta":
            told[-1] = (event.kind, f"{told[-1][1]}{event.data['text']}")
        else:
            told.append((event.kind, event.data["text"] if event.kind == "text.delta" else event.data))
    return told


@pytest.mark.requirement("S-63")
def test_events_come_in_their_shape_and_order(client: Client) -> None:
    """The shape of interfaces.md; the last event's sources are the record's."""
    run = client.begin()
    path = f"/v1/runs/{run}"
    events = client.events(f"{path}/events")
    numbers = [event.number for event in events]
    assert numbers == sorted(set(numbers))
    kinds = [event.kind for event in events]
    assert (kinds[0], kinds[-1]) == ("run.started", "run.finished")
    assert {"round.started", "node.visited", "round.finished", "text.delta"} <= set(kinds)
    _, shown, _ = client.ask("GET", path)
    assert [event.data for event in events if event.kind == "node.visited"] == shown["trail"]
    last = events[-1].data
    assert all(last[name] == shown[name] for name in last if name in shown)
    assert {"answer", "outcome", "citations", "evidence"} <= set(last)


@pytest.mark.requirement("S-63")
def test_a_stream_cut_at_every_event_goes_on_without_loss_or_doubling(
    home: Path, provider: ProviderServer
) -> None:
    """Issue: no event lost or doubled through forced disconnects. Here of a paid model's live stream."""
    provider.script = Script().for_calls(1, 99, Behaviour(pace=0.01))
    with serving(opened(home)) as client:
        path = f"/v1/runs/{client.begin()}/events"
        told: list[Told] = []
        while not told or told[-1].kind != "run.finished":
            told += client.events(path, last=str(told[-1].number) if told else None, most=1)
        numbers = [event.number for event in told]
        assert numbers == sorted(set(numbers))
        whole = client.events(path)
        assert merged(told) == merged(whole)
        assert client.events(path, last=str(numbers[-1])) == []
        for event in whole:
            rest = client.events(path, last=str(event.number))
            assert merged([*whole[: whole.index(event) + 1], *rest]) == merged(whole)
        assert "".join(e.data["text"] for e in told if e.kind == "text.delta")


@pytest.mark.requirement("S-65")
def test_a_run_whose_asker_has_gone_is_recorded_whole(home: Path, provider: ProviderServer) -> None:
    """Field reports: client gone, record kept."""
    provider.script = Script().for_calls(1, 99, Behaviour(pace=0.01))
    server = opened(home)
    with serving(server) as client:
        run = client.begin()
        client.events(f"/v1/runs/{run}/events", most=2)
        events = client.events(f"/v1/runs/{run}/events")
        assert events[-1].kind == "run.finished"
    kept = show_record(server.workspace(TENANT), run)
    assert (kept.outcome, kept.model) == ("answered", MODEL)
    assert kept.answer == events[-1].data["answer"]
    assert len(kept.visits) == sum(event.kind == "node.visited" for event in events)


@pytest.mark.requirement("S-63")
def test_fifty_watchers_of_one_run_are_told_the_same(home: Path, provider: ProviderServer) -> None:
    """Issue: the server."""
    provider.script = Script().for_calls(1, 99, Behaviour(latency=0.2))
    with serving(opened(home)) as client:
        path = f"/v1/runs/{client.begin()}/events"
        with ThreadPoolExecutor(50) as pool:
            streams = list(pool.map(client.events, [path] * 50))
    assert len({str(merged(events)) for events in streams}) == 1
    assert streams[0][-1].kind == "run.finished"


@pytest.mark.requirement("S-65")
def test_a_cancelled_run_ends_and_asks_no_more(home: Path, provider: ProviderServer) -> None:
    """Issue: the server."""
    provider.script = Script().for_calls(1, 99, slow(30))
    server = opened(home)
    with serving(server) as client:
        run = client.begin()
        status, shown, _ = client.ask("POST", f"/v1/runs/{run}/cancel", {"reason": "stop"})
        assert (status, shown["state"], shown["outcome"]) == (202, "finished", "cancelled")
        assert client.events(f"/v1/runs/{run}/events")[-1].data["outcome"] == "cancelled"
        calls = len(provider.calls)
        _, again, _ = client.ask("POST", f"/v1/runs/{run}/cancel")
        assert again["outcome"] == "cancelled"
        assert len(provider.calls) == calls
    assert show_record(server.workspace(TENANT), run).outcome == "cancelled"


@pytest.mark.requirement("S-66")
def test_a_server_that_is_stopped_records_what_is_under_way(home: Path, provider: ProviderServer) -> None:
    """Issue: graceful stop; runs in flight finish or are recorded as stopped; streams end."""
    provider.script = Script().for_calls(1, 99, slow(60))
    server = opened(home, stop_seconds=0.3)
    told: list[Told] = []
    with serving(server) as client:
        run = client.begin()
        is_watched = threading.Event()

        def watch() -> None:
            with client.watching(f"/v1/runs/{run}/events") as events:
                for event in events:
                    told.append(event)
                    is_watched.set()

        watcher = threading.Thread(target=watch)
        watcher.start()
        assert is_watched.wait(10)
    watcher.join(10)
    assert (told[-1].kind, told[-1].data["outcome"]) == ("run.finished", "stopped")
    assert show_record(server.workspace(TENANT), run).outcome == "stopped"
    assert server.hosted.unfinished() == ()


@pytest.mark.requirement("S-66")
def test_a_run_left_by_a_dead_process_is_closed_and_told(home: Path) -> None:
    """A run that has ended is never shown as under way."""
    server = opened(home)
    left = leave_behind(server, "run_dead", is_open=True)
    never = leave_behind(server, "run_never", is_open=False)
    closed = leave_behind(server, "run_closed", is_open=True)
    with_records = server.workspace(TENANT).records()
    with_records.close_run(record(closed.run, session=closed.session))
    with_records.close()
    with serving(open_server(home, ServerSettings())) as client:
        events = client.events(f"/v1/runs/{left.run}/events")
        assert [event.kind for event in events] == ["run.started", "run.finished"]
        assert events[-1].data["outcome"] == "stopped"
        _, shown, _ = client.ask("GET", f"/v1/runs/{left.run}")
        assert (shown["state"], shown["outcome"], len(shown["trail"])) == ("finished", "stopped", 1)
        _, whole, _ = client.ask("GET", f"/v1/runs/{closed.run}")
        assert (whole["state"], whole["outcome"]) == ("finished", "answered")
        assert client.ask("GET", f"/v1/runs/{never.run}")[0] == 404
    assert server.hosted.unfinished() == ()


def leave_behind(server: Server, run: str, *, is_open: bool) -> HostedRun:
    """What a process that was killed leaves of a run."""
    now = server.clock.now().timestamp()
    hosted = HostedRun(
        run=run,
        tenant=TENANT,
        session="session_x",
        corpus=CORPUS,
        channel="text",
        door="http",
        actor="token_gone",
        end_user=None,
        asked_at="2026-04-01T09:00:00.000Z",
        owner="elsewhere/1/host_1",
        lease_until=now - 1,
    )
    server.hosted.add_run(hosted)
    if is_open:
        opening = record(run, session=f"session_{run}", outcome="stopped")
        with_records = server.workspace(TENANT).records()
        with_records.open_run(opening.ids, opening, 600)
        with_records.add_visit(opening.ids, visit(1))
        with_records.close()
        started = NewEvent(kind="run.started", payload={"run_id": run})
        server.events.append(TENANT, f"run:{run}", [started])
    return replace(hosted, session=f"session_{run}")


def session_of(server: Server) -> HostedSession:
    session = HostedSession(
        session=server.ids.new("session"),
        tenant=TENANT,
        corpus=CORPUS,
        channel="voice",
        actor="token_1",
        end_user=None,
        created_at="2026-04-01T09:00:00.000Z",
    )
    server.hosted.add_session(session)
    return session


@pytest.mark.requirement("S-65")
def test_no_more_runs_at_once_than_are_allowed(home: Path, provider: ProviderServer) -> None:
    """Issue: the server."""
    provider.script = Script().for_calls(1, 99, slow(30))
    server = opened(home, runs_at_once=2)
    host = RunHost(server)
    try:
        orders = [Order(session=session_of(server), user=None, question=QUESTION) for _ in range(3)]
        begun = [host.begin(order) for order in orders[:2]]
        with pytest.raises(TooMany):
            host.begin(orders[2])
        host.cancel(TENANT, begun[0].run, "barge_in", 10)
        begun.append(host.begin(orders[2]))
    finally:
        host.stop(0)
    outcomes: list[Outcome] = [show_record(server.workspace(TENANT), run.run).outcome for run in begun]
    assert outcomes == ["interrupted", "stopped", "stopped"]


@pytest.mark.requirement("S-60")
def test_a_run_that_cannot_begin_leaves_no_trace(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No key: nothing is begun, and the asker is told why."""
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    server = opened(home)
    with serving(server) as client:
        _, session, _ = client.ask("POST", "/v1/sessions", {"corpus": CORPUS})
        path = f"/v1/sessions/{session['session_id']}/runs"
        status, problem, _ = client.ask("POST", path, {"question": QUESTION, "model": MODEL})
        assert (status, problem["status"]) == (422, 422)
        assert client.ask("GET", path)[1]["data"] == []


@pytest.mark.requirement("S-65")
def test_a_switch_of_versions_leaves_runs_under_way_on_theirs(home: Path, provider: ProviderServer) -> None:
    """Field reports: no run mixes two versions; the version is in the record."""
    provider.script = Script().for_calls(1, 1, slow(0.5))
    server = opened(home)
    with serving(server) as client:
        first = client.begin()
        (home.parent / "documents" / "新.md").write_text("# 新規\n\n新しい条件。\n", encoding="utf-8")
        compile_corpus(server, home.parent / "documents")
        second = client.begin()
        ends = [client.events(f"/v1/runs/{run}/events")[-1].data for run in (first, second)]
    assert [end["version"] for end in ends] == [1, 2]


@pytest.mark.requirement("S-65")
def test_a_failing_provider_ends_in_a_record_without_its_key(home: Path, provider: ProviderServer) -> None:
    """Issue: the server."""
    provider.script = Script().for_calls(1, 99, fails("authentication", echoes_key=True))
    with serving(opened(home)) as client:
        run = client.begin()
        last = client.events(f"/v1/runs/{run}/events")[-1].data
        assert last["outcome"] == "model_failed"
        _, shown, _ = client.ask("GET", f"/v1/runs/{run}")
        assert shown["answer"]
        assert "sk-" not in str(shown)
        assert "sk-" not in str(client.ask("GET", f"/v1/records/{run}")[1])


@pytest.mark.requirement("S-64")
def test_the_hub_forgets_whoever_has_gone(home: Path) -> None:
    """Memory stays flat."""
    server = opened(home)
    with pytest.raises(ThingNotFound):
        server.hosted.run(TENANT, "run_0")
    with serving(server) as client:
        run = client.begin()
        for _ in range(5):
            client.events(f"/v1/runs/{run}/events", most=1)
        assert client.events(f"/v1/runs/{run}/events")[-1].kind == "run.finished"


@pytest.mark.requirement("S-76")
def test_a_spending_limit_ends_a_question_before_it_is_passed(
    home: Path, provider: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The settings' question, session and day cost."""
    monkeypatch.setenv("CORPUS2SKILL_DAY_COST", "0.0001")
    with serving(opened(home)) as client:
        last = client.events(f"/v1/runs/{client.begin()}/events")[-1].data
        assert last["outcome"] == "budget"
    assert len(provider.calls) == 0
