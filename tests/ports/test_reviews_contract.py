"""What every `ReviewStore` and `BranchVisits` promises, over SQLite and PostgreSQL."""

from __future__ import annotations

from dataclasses import replace

import pytest

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.branch_visits import SqlBranchVisits
from corpus2skill.adapters.store.state.reviews import SqlReviewStore
from corpus2skill.domain.review import REVIEW_REASONS, ReviewEntry, review_entry
from corpus2skill.domain.run import Outcome
from corpus2skill.errors import ThingNotFound
from corpus2skill.ports.reviews import BranchVisits, ReviewFilter, ReviewStore
from corpus2skill.ports.store import RecordFilter
from tests.ports.runs import record, visit
from tests.ports.state import state as state

TENANT = "acme"


@pytest.fixture
def store(state: Database) -> ReviewStore:
    return SqlReviewStore(state)


@pytest.fixture
def counts(state: Database) -> BranchVisits:
    return SqlBranchVisits(state)


def entry(run: str, outcome: Outcome = "not_found", **more: object) -> ReviewEntry:
    kept = record(run, tenant=TENANT, outcome=outcome, visits=(visit(1), visit(2, doc_id="doc_chunk_7")))
    return replace(review_entry(kept), **more)


def runs(store: ReviewStore, which: ReviewFilter = ReviewFilter(), limit: int = 10) -> list[str]:
    return [kept.run for kept in store.entries(TENANT, which, limit)]


@pytest.mark.requirement("S-124", "S-126")
def test_entries_are_listed_newest_first_with_the_filters_of_records(store: ReviewStore) -> None:
    """Issue 6: the queue of unanswered and badly rated questions."""
    for number in range(4):
        store.put(entry(f"run_{number}", version=1 + number % 2, user="tanaka" if number else None))
    store.put(entry("run_9", tenant="other"))
    assert runs(store) == ["run_3", "run_2", "run_1", "run_0"]
    assert runs(store, limit=2) == ["run_3", "run_2"]
    assert runs(store, ReviewFilter(records=RecordFilter(before="run_2"))) == ["run_1", "run_0"]
    assert runs(store, ReviewFilter(records=RecordFilter(version=1, user="tanaka"))) == ["run_2"]
    assert runs(store, ReviewFilter(records=RecordFilter(corpus="other"))) == []
    assert runs(store, ReviewFilter(records=RecordFilter(until="2026-04-01T09:00:00.000Z"))) == []
    assert runs(store, ReviewFilter(branch="SKILL.md")) == []
    assert len(runs(store, ReviewFilter(branch="cancellation/SKILL.md"))) == 4
    assert store.entry(TENANT, "run_3") == entry("run_3", version=2, user="tanaka")


@pytest.mark.requirement("S-124", "S-126")
def test_each_reason_is_found_and_doubtful_answers_only_where_asked_for(store: ReviewStore) -> None:
    """Promised by the port."""
    store.put(entry("run_1"))
    store.put(entry("run_2", "fetch_limit"))
    store.put(entry("run_3", "answered", is_unhelpful=True))
    store.put(entry("run_4", "answered", is_doubtful=True))
    store.put(entry("run_5", "answered"))
    assert runs(store) == ["run_3", "run_2", "run_1"]
    assert runs(store, ReviewFilter(reasons=REVIEW_REASONS)) == ["run_4", "run_3", "run_2", "run_1"]
    for reason, run in zip(REVIEW_REASONS, ("run_1", "run_2", "run_3", "run_4"), strict=True):
        assert runs(store, ReviewFilter(reasons=(reason,))) == [run]


@pytest.mark.requirement("S-124", "S-126")
def test_what_somebody_made_of_an_entry_stays_when_more_is_known_of_its_run(store: ReviewStore) -> None:
    """Promised by the port."""
    store.put(entry("run_1"))
    store.put(entry("run_2", "answered", is_unhelpful=True))
    settled = store.change(TENANT, "run_1", lambda was: replace(was, state="to_do", note="第9条がない"))
    assert settled.revision == 2
    store.put(entry("run_1", is_unhelpful=True))
    kept = store.entry(TENANT, "run_1")
    assert (kept.state, kept.note, kept.is_unhelpful) == ("to_do", "第9条がない", True)
    store.put(entry("run_2", "answered"))  # judged helpful after all
    assert runs(store, ReviewFilter(states=())) == ["run_1"]
    assert runs(store, ReviewFilter(states=("to_do",))) == ["run_1"]
    assert runs(store) == []
    store.forget(TENANT, ["run_1", "run_7"])
    with pytest.raises(ThingNotFound):
        store.entry(TENANT, "run_1")
    with pytest.raises(ThingNotFound):
        store.change(TENANT, "run_1", lambda was: was)


@pytest.mark.requirement("S-124", "S-126")
def test_branches_are_counted_most_first(store: ReviewStore) -> None:
    """Promised by the port."""
    for number in range(3):
        store.put(entry(f"run_{number}", branch="a/SKILL.md", branch_title=f"題{number}"))
    store.put(entry("run_3", branch="b/SKILL.md", branch_title="乙"))
    store.put(entry("run_4", branch="a/SKILL.md", state="fine"))
    found = store.branches(TENANT, ReviewFilter(), 10)
    assert [(line.branch, line.title, line.entries, line.newest) for line in found] == [
        ("a/SKILL.md", "題2", 3, "run_2"),
        ("b/SKILL.md", "乙", 1, "run_3"),
    ]
    assert store.branches("other", ReviewFilter(), 10) == ()


@pytest.mark.requirement("S-113", "S-126")
def test_visits_add_up_by_version_and_can_begin_again(counts: BranchVisits) -> None:
    """Promised by the port."""
    counts.count(TENANT, "terms", 1, {"a/SKILL.md": 2, "b/SKILL.md": 1})
    counts.count(TENANT, "terms", 1, {"a/SKILL.md": 3})
    counts.count(TENANT, "terms", 2, {"a/SKILL.md": 7})
    counts.count("other", "terms", 1, {})
    assert counts.visits(TENANT, "terms", 1, ["a/SKILL.md", "c"]) == {"a/SKILL.md": 5}
    counts.forget(TENANT, "terms", 1)
    assert counts.visits(TENANT, "terms", 1, ["a/SKILL.md"]) == {}
    assert counts.visits(TENANT, "terms", 2, ["a/SKILL.md"]) == {"a/SKILL.md": 7}
    counts.forget(TENANT)
    assert counts.visits(TENANT, "terms", 2, ["a/SKILL.md"]) == {}
