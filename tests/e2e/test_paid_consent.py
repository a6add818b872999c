"""Nothing is paid before somebody has said so, and what it will cost is said first."""

from __future__ import annotations

import os
import pty
import re
import select
from pathlib import Path

import pytest

from corpus2skill.entrypoints.cli.output import width_of
from tests.e2e.command_line import write_documents
from tests.e2e.paid import PRICE_VARIABLES, Running, Shop, rules, spent
from tests.fakes.providers import KEY


@pytest.mark.requirement("P-01")
def test_a_key_in_the_environment_never_starts_spending_by_itself(shop: Shop) -> None:
    """design.md, paying: the default model is always the offline engine."""
    assert os.environ["ANTHROPIC_API_KEY"] == KEY
    ran = shop.cli("compile", shop.documents, "--json")
    assert (ran.code, ran.json["spending"], shop.calls) == (0, [], [])
    assert ran.json["manifest"]["engines"]["summarizer"].startswith("offline")


@pytest.mark.requirement("P-01")
def test_the_first_paid_compile_without_a_terminal_needs_a_yes_or_a_cap(one_shop: Shop) -> None:
    """design.md, paying: without a terminal it needs `--yes` or `--max-cost`."""
    ran = one_shop.compile("--json")
    assert (ran.code, ran.json["error"]["code"]) == (2, "payment_not_confirmed")
    assert "--yes" in ran.err
    assert "--max-cost" in ran.err
    assert re.search(r"\d+ calls, <= \$\d", ran.err)
    assert (one_shop.calls, one_shop.active()) == ([], None)
    assert one_shop.compile("--max-cost", "5").code == 0
    assert one_shop.active() == 1


@pytest.mark.requirement("P-01")
def test_a_growing_corpus_is_asked_about_again_only_where_it_costs_more_than_was_agreed_to(
    one_shop: Shop,
) -> None:
    """A nightly compile of a few changes must not wait for a yes; ten times the documents must."""
    assert one_shop.paid().code == 0
    write_documents(one_shop.documents, rules(2, first=100))
    assert one_shop.compile().code == 0
    write_documents(one_shop.documents, rules(200, first=200))
    ran = one_shop.compile("--json")
    assert (ran.code, ran.json["error"]["code"]) == (2, "payment_not_confirmed")


@pytest.mark.requirement("P-01")
def test_in_a_terminal_the_estimate_is_shown_and_a_yes_is_asked_for(
    one_shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """design.md, paying: the first paid compile shows the estimate and asks."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "160")
    no = _at_terminal(one_shop, "n")
    assert no.code == 2
    assert (one_shop.calls, one_shop.active()) == ([], None)
    assert re.search(r"summaries +anthropic:claude-haiku-5-5 +24–\d+ ", no.shown), no.shown
    assert "[y/N]" in no.shown
    yes = _at_terminal(one_shop, "y")
    assert yes.code == 0, yes.shown
    assert one_shop.active() == 1
    beneath = yes.shown.partition("[y/N]")[2].partition("summarize")[0]
    assert "\x1b[1A" not in beneath, "bars are drawn over the question"


@pytest.mark.requirement("P-01")
@pytest.mark.parametrize("language", ["ja", "en"])
def test_what_is_asked_before_paying_fits_into_a_narrow_terminal(
    one_shop: Shop, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table whose lines break is no table: 80 columns are enough for it."""
    monkeypatch.setenv("CORPUS2SKILL_LANG", language)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    shown = _at_terminal(one_shop, "n").shown.splitlines()
    models = [number for number, line in enumerate(shown) if line.startswith("  anthropic:")]
    table = shown[models[0] - 1 : models[-1] + 4]
    assert len(models) == 2
    assert max(map(width_of, table)) <= 80, table


@pytest.mark.requirement("P-02")
def test_an_estimate_for_a_program_has_figures_and_no_texts(one_shop: Shop) -> None:
    """Whoever keeps an estimate does not mean to keep the documents."""
    ran = one_shop.compile("--estimate", "--json")
    assert (ran.json["plan"]["chunks"], ran.json["plan"]["to_summarize"]) == (24, 24)
    assert len(ran.json["sources"]) == 24
    assert "総務部の窓口" not in ran.out


@pytest.mark.requirement("P-02")
def test_an_estimate_needs_no_network_and_no_key_and_makes_no_call(
    one_shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """design.md, paying: the estimate needs no network."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", "http://127.0.0.1:9")
    before = _names_below(one_shop.cli.workspace)
    ran = one_shop.compile("--estimate")
    assert ran.code == 0, ran.err
    assert re.search(r"summaries +\S+ +24–\d+ +[\d,]+–[\d,]+ +[\d,]+–[\d,]+ +\$\d\.\d+–\$\d\.\d+", ran.out)
    assert re.search(r"^Total: \$\d\.\d+–\$\d\.\d+$", ran.out, re.MULTILINE)
    assert one_shop.calls == []
    assert {name for name in _names_below(one_shop.cli.workspace) - before if "corpora" in name} == set()


@pytest.mark.requirement("P-02")
def test_an_estimate_says_what_the_price_list_says_of_the_providers_own_models(
    one_shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Money is known before the first call, also where no setting states a price."""
    for name in ("ANTHROPIC_BASE_URL", *PRICE_VARIABLES):
        monkeypatch.delenv(name)
    ran = one_shop.compile("--estimate", "--json")
    assert ran.code == 0, ran.err
    assert all(0 <= line["dollars"]["low"] < line["dollars"]["high"] for line in ran.json["spending"])


@pytest.mark.requirement("P-02")
def test_an_unknown_price_is_said_and_never_shown_as_nothing(
    one_shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Issue, money: unknown prices say so; a cap that cannot be held is refused before the first call."""
    for name in PRICE_VARIABLES:
        monkeypatch.delenv(name)
    assert "Total: price unknown" in one_shop.compile("--estimate").out
    asked = one_shop.compile("--json").json["error"]
    assert (asked["code"], "unknown cost" in asked["message"]) == ("payment_not_confirmed", True), asked
    monkeypatch.setenv("CORPUS2SKILL_LANG", "ja")
    assert "費用は不明" in one_shop.compile("--json").json["error"]["message"]
    monkeypatch.setenv("CORPUS2SKILL_LANG", "en")
    capped = one_shop.compile("--max-cost", "5", "--json")
    assert (capped.code, capped.json["error"]["code"], one_shop.calls) == (2, "price_unknown", [])
    paid = one_shop.paid("--json")
    assert {line["dollars"] for line in paid.json["spending"]} == {None}


@pytest.mark.requirement("P-02")
def test_an_estimate_is_corrected_by_what_the_workspace_has_paid_before(shop: Shop) -> None:
    """Issue, money: corrected by the workspace's own past usage."""
    write_documents(shop.documents, rules(24))
    rough = _summaries(shop.compile("--estimate", "--json").json["spending"])
    assert shop.paid().code == 0
    write_documents(shop.documents, rules(24, first=24))
    close = _summaries(shop.compile("--estimate", "--json").json["spending"])
    assert _width(close) < _width(rough)
    bill = spent(shop.paid("--json"))["summarize"]["dollars"]
    assert close["dollars"]["low"] <= bill <= close["dollars"]["high"]


@pytest.mark.requirement("P-02")
def test_what_is_answered_already_is_not_estimated_again(one_shop: Shop) -> None:
    """After a compile, the same documents cost nothing more."""
    assert one_shop.paid().code == 0
    ran = one_shop.compile("--estimate")
    assert (ran.code, "Nothing here is paid for" in ran.out) == (0, True), ran.out


@pytest.mark.requirement("P-02")
@pytest.mark.parametrize("language", ["ja", "en"])
def test_the_tables_of_money_stand_under_each_other_in_both_languages(
    one_shop: Shop, language: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wide character takes two columns."""
    monkeypatch.setenv("CORPUS2SKILL_LANG", language)
    for ran in (one_shop.compile("--estimate"), one_shop.paid()):
        table = [line for line in ran.out.splitlines() if line.startswith("  ")]
        assert len(table) >= 3
        cells = [_cells(line) for line in table]
        assert len({len(row) for row in cells}) == 1, ran.out
        begins = {tuple(begin for begin, _ in row[:2]) for row in cells}
        ends = {tuple(end for _, end in row[2:]) for row in cells}
        assert (len(begins), len(ends)) == (1, 1), ran.out


class _Shown:
    def __init__(self, code: int, shown: str) -> None:
        self.code, self.shown = code, shown


def _at_terminal(shop: Shop, answer: str) -> _Shown:
    """Run the compile in a terminal of its own and answer its question."""
    ours, theirs = pty.openpty()
    running = shop.begin(terminal=os.ttyname(theirs))
    shown = _answered(ours, running, f"{answer}\n".encode())
    os.close(theirs)
    os.close(ours)
    return _Shown(running.end() or 0, shown.decode())


def _answered(terminal: int, running: Running, answer: bytes) -> bytes:
    """Type the answer once the question is there; return all that was shown."""
    shown, is_asked = b"", False
    while running.process.is_alive() or _has_more(terminal):
        if _has_more(terminal):
            shown += os.read(terminal, 65536)
        if not is_asked and b"[y/N]" in shown:
            is_asked = True
            os.write(terminal, answer)
    return shown


def _has_more(terminal: int) -> bool:
    return bool(select.select([terminal], [], [], 0.1)[0])


def _summaries(lines: list[dict[str, dict[str, float]]]) -> dict[str, dict[str, float]]:
    return next(line for line in lines if str(line["purpose"]) == "summarize")


def _width(line: dict[str, dict[str, float]]) -> float:
    return line["dollars"]["high"] / line["dollars"]["low"]


def _names_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def _cells(line: str) -> list[tuple[int, int]]:
    """The columns on the screen in which the cells of a table's line begin and end."""
    return [
        (width_of(line[: found.start()]), width_of(line[: found.end()]))
        for found in re.finditer(r"\S+(?: \S+)*", line)
    ]
