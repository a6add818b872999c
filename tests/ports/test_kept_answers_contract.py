"""What the kept answers promise, on both databases."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.kept_answers import SqlKeptAnswers
from corpus2skill.ports.kept_answers import Asked, KeptAnswers
from tests.ports.state import state as state

NOON, STALE, KEPT = "2026-04-01T12:00:00.000Z", "2026-04-01T11:58:00.000Z", "2026-03-31T12:00:00.000Z"
ASKED = Asked(tenant="acme", actor="token_1", route="POST /v1/jobs?", key="k" * 64, body="b" * 64)


@pytest.fixture
def answers(state: Database) -> KeptAnswers:
    return SqlKeptAnswers(state)


def begin(answers: KeptAnswers, asked: Asked = ASKED, at: str = NOON) -> str:
    return answers.begin(asked, at, STALE, KEPT)


def test_a_request_is_new_then_in_flight_then_answered(answers: KeptAnswers) -> None:
    """interfaces.md: same key and body, same answer; in flight 409."""
    assert begin(answers) == "new"
    assert begin(answers) == "in_flight"
    answers.keep(ASKED, "答え")
    assert begin(answers) == "答え"
    assert begin(answers, replace(ASKED, body="c" * 64)) == "other_body"


@pytest.mark.parametrize("other", [{"tenant": "b"}, {"actor": "b"}, {"route": "b"}, {"key": "x" * 64}])
def test_what_another_asks_or_elsewhere_is_another_request(
    answers: KeptAnswers, other: dict[str, str]
) -> None:
    """interfaces.md: same key, body, caller and route."""
    begin(answers)
    assert begin(answers, replace(ASKED, **other)) == "new"


def test_a_key_that_was_freed_is_new_again(answers: KeptAnswers) -> None:
    """Promised by the port; what was answered stays."""
    begin(answers)
    answers.free(ASKED)
    assert begin(answers, replace(ASKED, body="c" * 64)) == "new"
    answers.keep(ASKED, "x")
    answers.free(ASKED)
    assert begin(answers, replace(ASKED, body="c" * 64)) == "x"


def test_one_whose_process_died_is_taken_over(answers: KeptAnswers) -> None:
    """Promised by the port: in flight since `stale_before`."""
    begin(answers, at=STALE)
    assert begin(answers) == "new"
    assert begin(answers) == "in_flight"


def test_an_answer_is_kept_for_a_day(answers: KeptAnswers) -> None:
    """interfaces.md: kept 24 h."""
    begin(answers, at=KEPT)
    answers.keep(ASKED, "x")
    assert begin(answers) == "x"
    assert answers.begin(ASKED, NOON, STALE, NOON) == "new"
    assert answers.forget_before(NOON) == 0
    assert answers.forget_before("2026-04-01T12:00:00.001Z") == 1
    assert begin(answers) == "new"


def test_of_many_at_once_one_is_new(answers: KeptAnswers) -> None:
    """Promised by the port."""
    with ThreadPoolExecutor(8) as threads:
        found = sorted(threads.map(lambda _: begin(answers), range(24)))
    assert found == ["in_flight"] * 23 + ["new"]
