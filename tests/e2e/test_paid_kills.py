"""Killed after any call: a restart makes the missing calls and writes the tree of an undisturbed run."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.e2e.paid import PROVIDERS, Provider, Running, Shop, opened, rules
from tests.fakes.providers import Script
from tests.fakes.providers.script import Asked, Rule

AT_ONCE = 4
NARROW = ("--max-children", "4", "--max-leaves", "6")
"""So few that the groups themselves are grouped."""


class Killer:
    """Signals a command line in the moment in which the `number`th call that could be answered comes in."""

    def __init__(self, number: int, sign: signal.Signals = signal.SIGKILL) -> None:
        self._left, self._sign = number, sign
        self.victim: Running | None = None

    def __call__(self, _asked: Asked) -> None:
        self._left -= 1
        if not self._left and self.victim is not None:
            self.victim.signal(self._sign)


def _rule(act: Callable[[Asked], None]) -> Rule:
    return lambda asked: act(asked)


def _killed_at(shop: Shop, number: int) -> int:
    """Kill a compile at call `number`; return how many calls were answered before."""
    killer = Killer(number)
    shop.server.script = Script().add(_rule(killer))
    shop.server.calls.clear()
    killer.victim = shop.begin("--yes", *NARROW)
    ended = killer.victim.end()
    assert ended == -9, ended
    return len(shop.answered)


def _sweep(shop: Shop, monkeypatch: pytest.MonkeyPatch, share: Callable[[int], list[int]]) -> None:
    monkeypatch.setenv("CORPUS2SKILL_CONCURRENCY", str(AT_ONCE))
    assert shop.paid(*NARROW).code == 0
    undisturbed, wanted = shop.files(), len({call.digest for call in shop.answered})
    for number in share(wanted):
        killed = shop.elsewhere(f"killed-{number}")
        answered = _killed_at(killed, number)
        assert killed.active() is None
        kept = killed.results()
        assert answered - AT_ONCE <= kept <= answered
        shop.server.script = Script()
        shop.server.calls.clear()
        assert killed.paid(*NARROW).code == 0
        assert len(killed.answered) == wanted - kept, f"killed at {number}"
        assert killed.files() == undisturbed


@pytest.mark.requirement("P-03", "P-04")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_compile_killed_in_either_stage_goes_on_and_writes_the_same_tree(
    provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: SIGKILL after call k: exactly the missing calls plus at most those in flight."""
    with opened(provider, tmp_path / "shop", rules(32), monkeypatch) as shop:
        _sweep(shop, monkeypatch, lambda calls: [1, 17, 33, calls])


@pytest.mark.requirement("P-03", "P-06")
def test_an_interrupted_compile_keeps_what_was_sent_says_what_was_paid_and_goes_on(
    one_shop: Shop, tmp_path: Path
) -> None:
    """Ctrl-C is no fault: calls under way are waited for, since they are paid for."""
    log = tmp_path / "shown"
    log.touch()
    killer = Killer(10, signal.SIGINT)
    one_shop.server.script = Script().add(_rule(killer))
    killer.victim = one_shop.begin("--yes", terminal=str(log))
    assert killer.victim.end() == 130
    shown = log.read_text(encoding="utf-8")
    assert "Paid: $0.0" in shown
    assert "Interrupted." in shown
    assert "Traceback" not in shown
    assert one_shop.results() == len(one_shop.answered) >= 10
    assert one_shop.paid().code == 0
    assert one_shop.server.calls.paid_twice == []


@pytest.mark.soak
@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_compile_killed_at_any_call_goes_on_and_writes_the_same_tree(
    provider: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue: SIGKILL after call k, for many k in both stages."""
    with opened(provider, tmp_path / "shop", rules(60), monkeypatch) as shop:
        _sweep(shop, monkeypatch, lambda calls: list(range(1, calls + 1)))
