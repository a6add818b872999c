"""Small windows: every prompt fits, or nothing is begun."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.command_line import CommandLine, write_documents
from tests.e2e.paid import Shop, prompt_of, rules, serve
from tests.fakes.providers import openai_server
from tests.fakes.providers.hosting import in_thread
from tests.fakes.providers.models import LOCAL_MODELS, cards
from tests.fakes.providers.quirks import OLLAMA_LIKE
from tests.fakes.providers.wire import number, tokens

LOCAL = "openai:llama3.2"
SMALL = 8_192


@pytest.fixture
def local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """A server on one's own machine: no key, no window said, long prompts cut in silence."""
    server = openai_server(key=None, quirks=OLLAMA_LIKE, models=cards(*LOCAL_MODELS, window=SMALL))
    with in_thread(server):
        serve(server, "openai", monkeypatch)
        for name in ("OPENAI_API_KEY", "CORPUS2SKILL_CONTEXT_WINDOW"):
            monkeypatch.delenv(name)
        yield Shop(
            provider="openai",
            server=server,
            cli=CommandLine(workspace=tmp_path / "workspace"),
            documents=write_documents(tmp_path / "documents", rules(60)),
        )


@pytest.mark.requirement("P-17")
def test_a_model_of_a_small_window_is_never_sent_more_than_it_reads(local: Shop) -> None:
    """design.md: every prompt is checked against the window before it is sent; 8,192 for unknown models."""
    ran = local.paid(model=LOCAL)
    assert ran.code == 0, ran.err
    assert local.purposes()["group"] > 1, "more than one list for so small a window"
    for call in local.answered:
        limit = number(call.json.get("max_tokens") or call.json.get("max_completion_tokens")) or 0
        assert tokens(prompt_of(call)) + limit <= SMALL
    assert local.is_sound()


@pytest.mark.requirement("P-17")
@pytest.mark.parametrize("language", ["ja", "en"])
@pytest.mark.parametrize("window", [1_000, 3_000])
def test_a_window_too_small_is_refused_before_any_call_with_the_numbers(
    local: Shop, window: int, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bad input: a window too small for one chunk."""
    monkeypatch.setenv("CORPUS2SKILL_LANG", language)
    ran = local.paid("--context-window", str(window), "--json", model=LOCAL)
    assert (ran.code, local.calls) == (2, [])
    message = ran.json["error"]["message"]
    assert str(window) in message
    assert str(ran.json["error"]["values"]["needed"]) in message
    assert local.active() is None


@pytest.mark.requirement("P-17")
def test_a_chunk_too_large_for_the_window_is_named_with_the_size_that_would_fit(local: Shop) -> None:
    """Bad input: with what to do: a larger window, or smaller chunks, and both really work."""
    write_documents(
        local.documents, {"長い.md": "# 長い規程\n\n" + "総務部の窓口は、申請を受け付ける。" * 800}
    )
    chunks = ("--chunk-limit", "9000")
    ran = local.paid(*chunks, "--json", model=LOCAL)
    assert (ran.code, ran.json["error"]["code"], local.calls) == (2, "chunks_over_window", [])
    values = ran.json["error"]["values"]
    assert values["source"] == "長い.md"
    fits = ("--chunk-limit", str(values["chunk_limit"]))
    assert local.compile(*fits, "--estimate", model=LOCAL).code == 0
    wide = ("--context-window", str(values["needed"]))
    assert local.compile(*chunks, *wide, "--estimate", model=LOCAL).code == 0


@pytest.mark.requirement("P-17")
def test_the_window_that_an_error_asks_for_is_enough_also_for_a_model_that_thinks(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a model may think is part of its window, and of the numbers that are told."""
    monkeypatch.delenv("CORPUS2SKILL_CONTEXT_WINDOW")
    window = "5000"
    for _ in range(3):
        ran = shop.compile("--context-window", window, "--estimate", "--json")
        if ran.code == 0:
            break
        told = ran.json["error"]["values"]
        assert told["window"] == int(window) < told["needed"]
        window = str(told["needed"])
    assert shop.paid("--context-window", window).code == 0
    assert shop.is_sound()
