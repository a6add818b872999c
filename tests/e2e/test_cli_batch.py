"""`compile --batch`: summaries at half the price, a batch that outlives its command, and what is said of it."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpus2skill.entrypoints.cli import exit_codes
from tests.e2e.command_line import CommandLine, write_documents
from tests.e2e.texts import DOCUMENTS
from tests.fakes.providers import KEY, BatchPlan, ProviderServer, Script, anthropic_server, openai_server
from tests.fakes.providers.anthropic_batches import AnthropicBatches
from tests.fakes.providers.anthropic_dialect import AnthropicDialect
from tests.fakes.providers.hosting import in_thread
from tests.fakes.providers.openai_batches import OpenAIBatches
from tests.fakes.providers.openai_dialect import OpenAIDialect
from tests.fakes.providers.quirks import OLLAMA_LIKE
from tests.fakes.providers.script import Asked

MODEL = {"anthropic": "anthropic:claude-haiku-5-5", "openai": "openai:gpt-4.1-mini"}


@pytest.fixture(params=["anthropic", "openai"])
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[ProviderServer]:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    make = anthropic_server if request.param == "anthropic" else openai_server
    made = make(batch_plan=BatchPlan(polls=0))
    with in_thread(made):
        yield made


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    return write_documents(tmp_path / "documents", DOCUMENTS["en"])


def options(server: ProviderServer) -> tuple[str, ...]:
    model = MODEL[server.dialect.provider]
    window = ("--context-window", "100000")
    return ("--summary-model", model, "--base-url", server.base_url, *window, "--batch", "--yes")


def batches_of(server: ProviderServer) -> AnthropicBatches | OpenAIBatches:
    assert isinstance(server.dialect, AnthropicDialect | OpenAIDialect)
    return server.dialect.batches


def test_summaries_come_through_one_batch(cli: CommandLine, documents: Path, server: ProviderServer) -> None:
    """Issue 4, batch mode."""
    ran = cli("compile", documents, *options(server), "--json")
    assert ran.code == exit_codes.OK, ran.err
    (line,) = ran.json["spending"]
    assert line["calls"] == ran.json["manifest"]["chunks"]
    assert line["reused"] == 0
    assert len(server.calls.model_calls) == 1
    assert "batch" in ran.err
    assert "are kept" in ran.err


def test_a_killed_command_is_taken_up_by_the_same_command(
    cli: CommandLine, documents: Path, server: ProviderServer
) -> None:
    """Issue 4, batch mode: the batch id is kept, so that a restart picks the batch up again."""
    answered: Counter[str] = Counter()

    def count(asked: Asked) -> None:
        answered[asked.prompt.question] += 1

    server.script = Script().add(count)
    batches = batches_of(server)
    batches.plan = BatchPlan(polls=1_000_000)
    process = cli.begin("compile", documents, *options(server))
    try:
        assert process.stderr is not None
        said = b""
        while b"24 hours" not in said:
            line = process.stderr.readline()
            assert line, said
            said += line
    finally:
        process.send_signal(signal.SIGKILL)
        process.communicate()
    for batch in batches.batches.values():
        batch.polls_left = 0
    ran = cli("compile", documents, *options(server), "--json")
    assert ran.code == exit_codes.OK, ran.err
    assert len(batches.batches) == 1
    assert max(answered.values()) == 1
    assert len(answered) == ran.json["manifest"]["chunks"]


def test_an_interrupted_command_says_that_the_batch_stays(
    cli: CommandLine, documents: Path, server: ProviderServer
) -> None:
    """Issue 4, batch mode: Ctrl-C leaves the batch."""
    batches_of(server).plan = BatchPlan(polls=1_000_000)
    process = cli.begin("compile", documents, *options(server))
    assert process.stderr is not None
    said = b""
    while b"24 hours" not in said:
        line = process.stderr.readline()
        assert line, said
        said += line
    process.send_signal(signal.SIGINT)
    _, rest = process.communicate(timeout=120)
    assert process.returncode == exit_codes.INTERRUPTED, rest.decode()
    assert "Run the same command again to pick it up" in rest.decode()
    calls = len(server.calls.model_calls)
    singly = [option for option in options(server) if option not in {"--batch", "--yes"}]
    ran = cli("compile", documents, *singly, "--json")
    assert (ran.code, ran.json["error"]["code"]) == (exit_codes.USAGE, "batch_open")
    assert len(server.calls.model_calls) == calls
    _give_up_all(cli, server)
    ran = cli("compile", documents, *singly, "--json")
    assert (ran.code, ran.json["error"]["code"]) == (exit_codes.USAGE, "payment_not_confirmed")


def _give_up_all(cli: CommandLine, server: ProviderServer) -> None:
    """As `doctor` says that it is done, for each batch that it names."""
    (left,) = cli("doctor", "--json").json["workspace"]["batches"]
    assert f"doctor --close-batch {left['batch']}" in cli("doctor").out
    unknown = cli("doctor", "--close-batch", "batch_none", "--json")
    assert (unknown.code, unknown.json["error"]["code"]) == (5, "open_batch_unknown")
    closed = cli("doctor", "--close-batch", left["batch"], "--base-url", server.base_url)
    assert (closed.code, "cancelled" in closed.out) == (exit_codes.OK, True), closed.out
    assert cli("doctor", "--json").json["workspace"]["batches"] == []


def test_batches_need_a_model_for_summaries(cli: CommandLine, documents: Path) -> None:
    """What cannot be done as asked is refused before anything is begun."""
    ran = cli("compile", documents, "--batch")
    assert ran.code == exit_codes.USAGE
    assert "--summary-model" in ran.err


def test_an_endpoint_without_batches_is_named_before_anything_is_paid(
    cli: CommandLine, documents: Path, threaded_ollama: ProviderServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 4, bad input: what to do is said."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    window = ("--context-window", "100000")
    model = ("--summary-model", "openai:qwen3:8b", "--base-url", threaded_ollama.base_url)
    ran = cli("compile", documents, *model, *window, "--batch", "--yes")
    assert ran.code == exit_codes.NOT_COMPILED
    assert "without --batch" in ran.err
    assert not threaded_ollama.calls.model_calls


@pytest.fixture
def threaded_ollama() -> Iterator[ProviderServer]:
    made = openai_server(quirks=OLLAMA_LIKE)
    with in_thread(made):
        yield made


def test_an_estimate_for_batches_is_half_of_the_usual_one(
    cli: CommandLine, documents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue 4, money: an estimate needs no network and no key."""
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    ask = ("compile", documents, "--summary-model", "anthropic:claude-haiku-5-5", "--estimate", "--json")
    (usual,) = cli(*ask).json["spending"]
    (batched,) = cli(*ask, "--batch").json["spending"]
    assert batched["dollars"]["high"] == pytest.approx(usual["dollars"]["high"] / 2)
    assert batched["dollars"]["low"] == pytest.approx(usual["dollars"]["low"] / 2)
    assert batched["calls"] == usual["calls"]
