"""The key is in no output, no file and no log, whatever the provider says."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest

from tests.e2e.paid import Shop, bytes_below
from tests.fakes.providers import KEY, Script
from tests.fakes.providers.behaviour import edited, fails
from tests.fakes.providers.rubbish import echoes


@pytest.fixture
def log(caplog: pytest.LogCaptureFixture) -> Iterator[pytest.LogCaptureFixture]:
    """Every log of this process, as loud as it goes."""
    with caplog.at_level(logging.DEBUG):
        for name in ("anthropic", "openai", "httpx2", "httpcore2", "sqlalchemy", "corpus2skill"):
            caplog.set_level(logging.DEBUG, logger=name)
        yield caplog


@pytest.mark.requirement("P-16")
@pytest.mark.parametrize("kind", ["authentication", "quota"])
def test_a_key_that_an_error_repeats_is_shown_nowhere(
    shop: Shop, log: pytest.LogCaptureFixture, kind: str
) -> None:
    """field report 29: with a provider that echoes the key."""
    script = Script().always(fails(kind, echoes_key=True))  # pyright: ignore[reportArgumentType]
    shop.server.script = script
    for more in ((), ("--json",)):
        ran = shop.paid(*more)
        assert ran.code == 4
        assert KEY not in ran.out + ran.err
    _is_nowhere(shop, log)


@pytest.mark.requirement("P-16")
def test_a_key_that_passing_errors_and_replies_repeat_is_shown_nowhere(
    shop: Shop, log: pytest.LogCaptureFixture
) -> None:
    """Issue, ports: never in a log, error, record, tree or trace."""
    shop.server.script = (
        Script()
        .on_call(5, fails("server_error", echoes_key=True))
        .on_call(9, fails("rate_limit", retry_after=0.1, echoes_key=True))
        .share(0.5, edited(echoes(KEY)), seed=1)
    )
    ran = shop.paid()
    assert ran.code in (0, 3), ran.err
    assert KEY in "".join(call.output_text for call in shop.answered)
    assert KEY not in ran.out + ran.err
    _is_nowhere(shop, log)
    assert shop.is_sound()


@pytest.mark.requirement("P-16")
def test_a_key_from_a_file_works_and_is_shown_nowhere(
    shop: Shop, log: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue, ports: keys from the environment, a key file or the system keyring."""
    name = f"{shop.provider.upper()}_API_KEY"
    file = shop.documents.with_name("keys.env")
    file.write_text(f"{name}={KEY}\n", encoding="utf-8")
    monkeypatch.delenv(name)
    monkeypatch.setenv("CORPUS2SKILL_KEY_FILE", str(file))
    ran = shop.paid()
    assert ran.code == 0, ran.err
    assert KEY not in ran.out + ran.err
    _is_nowhere(shop, log)


def _is_nowhere(shop: Shop, log: pytest.LogCaptureFixture) -> None:
    logged = log.text + "".join(repr(vars(record)) for record in log.records)
    assert log.records
    assert KEY not in logged
    if shop.cli.workspace.exists():
        assert KEY.encode() not in bytes_below(shop.cli.workspace)
