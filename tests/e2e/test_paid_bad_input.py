"""Keys, names, addresses and quotas that are wrong: said at once, in both languages, and nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.e2e.command_line import PROGRAM
from tests.e2e.paid import Shop
from tests.fakes.providers import Script
from tests.fakes.providers.behaviour import Behaviour, RawAnswer, fails, gateway_page


@dataclass(frozen=True, slots=True, kw_only=True)
class Wrong:
    """Something wrong with the way to a model."""

    code: str
    ja: str
    en: str
    """A word of what to do, in each language."""
    arguments: tuple[str, ...] = ()
    exit_code: int = 4
    calls: int = 1
    """The first is refused before another one goes."""


KINDS: dict[str, tuple[Wrong, Callable[[Shop, pytest.MonkeyPatch], None]]] = {
    "quota": (
        Wrong(code="quota_used_up", ja="もう一度実行してください", en="run the same command again"),
        lambda shop, _: _scripted(shop, Script().always(fails("quota"))),
    ),
    "billing": (
        Wrong(code="quota_used_up", ja="支払いと上限を確かめ", en="Check billing"),
        lambda shop, _: _scripted(shop, Script().always(fails("billing"))),
    ),
    "key": (
        Wrong(code="key_refused", ja="キーと、その提供元", en="Check the key"),
        lambda shop, patch: patch.setenv(f"{shop.provider.upper()}_API_KEY", "sk-wrong-9876543210"),
    ),
    "no_key": (
        Wrong(code="key_missing", ja="環境変数", en="in the environment", calls=0),
        lambda shop, patch: _keyless(shop, patch),
    ),
    "malformed_key": (
        Wrong(code="key_malformed", ja="全角文字", en="full-width", exit_code=2, calls=0),
        lambda shop, patch: patch.setenv(f"{shop.provider.upper()}_API_KEY", "ｓｋ－１２３"),
    ),
    "model": (
        Wrong(code="model_unknown", ja="名前を確かめて", en="Check the model's name", arguments=("no-such",)),
        lambda _shop, _patch: None,
    ),
    "provider": (
        Wrong(
            code="unknown_model",
            ja="使えるのは",
            en="There are:",
            arguments=("!gemini",),
            exit_code=2,
            calls=0,
        ),
        lambda _shop, _patch: None,
    ),
    "html": (
        Wrong(code="endpoint_not_api", ja="ベースURL", en="Check the base URL"),
        lambda shop, _: _scripted(shop, Script().always(gateway_page(200))),
    ),
    "empty": (
        Wrong(code="endpoint_not_api", ja="ベースURL", en="Check the base URL"),
        lambda shop, _: _scripted(shop, Script().always(Behaviour(fault=RawAnswer(status=200, body=b"{}")))),
    ),
    "path": (
        Wrong(code="endpoint_not_api", ja="ベースURL", en="base URL"),
        lambda shop, patch: patch.setenv(
            f"{shop.provider.upper()}_BASE_URL", f"{shop.server.origin}/nowhere"
        ),
    ),
    "no_address": (
        Wrong(code="base_url_unusable", ja="http://", en="http://", exit_code=2, calls=0),
        lambda shop, patch: patch.setenv(f"{shop.provider.upper()}_BASE_URL", "localhost:8080"),
    ),
    "refused": (
        Wrong(code="network_unreachable", ja="", en="", calls=0),
        lambda shop, patch: _unreachable(shop, patch),
    ),
}


AT_OPENAI = ("quota", "key", "no_key", "model", "empty", "path")
"""What that provider words in a way of its own."""


@pytest.mark.requirement("P-10")
@pytest.mark.parametrize(
    ("shop", "kind"),
    [("anthropic", kind) for kind in KINDS] + [("openai", kind) for kind in AT_OPENAI],
    indirect=["shop"],
)
def test_a_wrong_way_to_the_model_is_said_at_once_and_nothing_is_lost(
    shop: Shop, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue, bad input: each a clear error naming what to do, nothing lost, the live version untouched."""
    assert shop.cli("compile", shop.documents).code == 0
    wrong, spoil = KINDS[kind]
    with monkeypatch.context() as patch:
        spoil(shop, patch)
        for language, advice in (("ja", wrong.ja), ("en", wrong.en)):
            patch.setenv("CORPUS2SKILL_LANG", language)
            ran = shop.paid("--json", model=_model(shop, wrong))
            assert (ran.code, ran.json["error"]["code"]) == (wrong.exit_code, wrong.code), ran.err
            assert advice in ran.json["error"]["message"]
            assert "Traceback" not in ran.err
    malformed = 1 if shop.provider == "openai" else 0  # a field that this server knows by another name
    assert len(shop.calls) <= 2 * wrong.calls * (1 + malformed)
    assert shop.active() == 1
    assert shop.is_sound()
    shop.server.script = Script()
    assert shop.paid().code == 0


@pytest.mark.requirement("P-10")
def test_a_quota_that_ends_in_the_middle_is_said_at_once_and_gone_on_from_later(shop: Shop) -> None:
    """Issue, rates: quota-exhausted fails at once with what to do."""
    shop.server.script = Script().add(lambda asked: fails("quota") if len(shop.answered) >= 6 else None)
    ran = shop.paid("--json")
    assert (ran.code, ran.json["error"]["code"]) == (4, "quota_used_up")
    kept = shop.results()
    assert kept == len(shop.answered) >= 6
    shop.server.script = Script()
    assert shop.paid().code == 0
    assert shop.server.calls.paid_twice == []


@pytest.mark.requirement("P-10")
def test_a_missing_library_is_named_with_the_command_that_brings_it(one_shop: Shop) -> None:
    """The SDKs are an extra: who installed the core alone reads what to install."""
    program = f"import sys; sys.modules['anthropic'] = None; import {PROGRAM[-1]} as m; sys.exit(m.main())"
    done = subprocess.run(
        [sys.executable, "-c", program, "compile", str(one_shop.documents), "--model", "anthropic", "--yes",
         "--workspace", str(one_shop.cli.workspace)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 4, done.stderr
    assert "pip install" in done.stderr
    assert "anthropic" in done.stderr
    assert "Traceback" not in done.stderr


def _model(shop: Shop, wrong: Wrong) -> str:
    (name,) = wrong.arguments or ("",)
    if name.startswith("!"):
        return name[1:]
    return f"{shop.provider}:{name}" if name else shop.provider


def _scripted(shop: Shop, script: Script) -> None:
    shop.server.script = script


def _keyless(shop: Shop, patch: pytest.MonkeyPatch) -> None:
    """At the provider's own address: a server of one's own may need no key."""
    for name in ("API_KEY", "BASE_URL"):
        patch.delenv(f"{shop.provider.upper()}_{name}")


def _unreachable(shop: Shop, patch: pytest.MonkeyPatch) -> None:
    patch.setenv(f"{shop.provider.upper()}_BASE_URL", "http://127.0.0.1:9/v1")
    patch.setenv("CORPUS2SKILL_PATIENCE_SECONDS", "1")
