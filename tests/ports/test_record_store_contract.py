"""What every `RecordStore` promises, asked of the real one and of the one in memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from corpus2skill.adapters.store.records import SqlRecordStore, records_url
from corpus2skill.domain.feedback import Feedback
from corpus2skill.domain.message import Usage
from corpus2skill.domain.run import OUTCOMES, Heard, Outcome, Quotation
from corpus2skill.domain.session import Session, Turn
from corpus2skill.domain.usage import UsageLine
from corpus2skill.errors import RecordNotFound
from corpus2skill.ports.store import RecordFilter, RecordStore
from tests.fakes.clock import FakeClock
from tests.fakes.record_store import FakeRecordStore
from tests.ports.runs import TENANT, ids, record, visit

EVERYTHING = RecordFilter()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture(params=["sqlite", "postgres", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path, clock: FakeClock) -> RecordStore:
    if request.param == "memory":
        return FakeRecordStore(clock)
    if request.param == "postgres":
        return SqlRecordStore(str(request.getfixturevalue("postgres_url")), clock)
    return SqlRecordStore(records_url(tmp_path / "workspace"), clock)


def runs(store: RecordStore, which: RecordFilter = EVERYTHING) -> list[str]:
    return [found.ids.run for found in store.records(TENANT, which)]


def test_a_new_store_is_empty(store: RecordStore) -> None:
    """Promised by the port."""
    assert runs(store) == []
    assert store.session(TENANT, "s", "terms") == Session(session_id="s")
    assert store.cited_versions(TENANT, "terms") == frozenset()
    assert store.close_dead() == 0
    verdict = store.verify(TENANT)
    assert (verdict.records, verdict.head, verdict.faults) == (0, "0" * 64, ())
    with pytest.raises(RecordNotFound):
        store.record(TENANT, "run_1")


def test_a_closed_run_is_kept_whole(store: RecordStore) -> None:
    """N-24. The article: 最後に必ず、足跡と回答と所要時間を記録に残す."""
    closed = record("run_1", visits=(visit(1), visit(2)))
    store.open_run(closed.ids, record("run_1"), 60)
    store.add_visit(closed.ids, visit(1))
    store.close_run(closed)
    assert store.record(TENANT, "run_1") == closed
    assert list(store.records(TENANT, EVERYTHING)) == [closed]


def test_a_run_that_was_never_opened_can_be_closed(store: RecordStore) -> None:
    """A lost record may not happen, even if opening failed."""
    store.close_run(record("run_1"))
    assert runs(store) == ["run_1"]


def test_a_run_is_recorded_once(store: RecordStore) -> None:
    """One record a run: what was closed first stays."""
    store.close_run(record("run_1", answer="一度目"))
    store.close_run(record("run_1", answer="二度目"))
    assert [found.answer for found in store.records(TENANT, EVERYTHING)] == ["一度目"]
    assert store.verify(TENANT).faults == ()


def test_an_open_run_is_no_record_yet(store: RecordStore) -> None:
    """Promised by the port: appended when a run closes."""
    store.open_run(ids("run_1"), record("run_1"), 60)
    assert runs(store) == []
    assert store.session(TENANT, "s", "terms") == Session(session_id="s")


def test_a_beginning_of_a_run_id_is_enough_while_it_is_the_only_one(store: RecordStore) -> None:
    """Promised by the port."""
    for run in ("run_ab", "run_ac", "run_a", "RUN_B", "run%b"):
        store.close_run(record(run))
    assert store.record(TENANT, "run_ab").ids.run == "run_ab"
    assert store.record(TENANT, "run_a").ids.run == "run_a"
    assert store.record(TENANT, "RUN").ids.run == "RUN_B"
    for wrong in ("run_", "run_abc", "", "rub_b", "run__"):
        with pytest.raises(RecordNotFound):
            store.record(TENANT, wrong)


def test_records_come_newest_first_and_filtered(store: RecordStore) -> None:
    """Promised by the port."""
    store.close_run(record("run_1", session="a"))
    store.close_run(record("run_2", session="b", corpus="other", version=7))
    store.close_run(record("run_3", session="a", outcome="not_found"))
    assert runs(store) == ["run_3", "run_2", "run_1"]
    assert runs(store, RecordFilter(limit=2)) == ["run_3", "run_2"]
    assert runs(store, RecordFilter(limit=0)) == []
    assert runs(store, RecordFilter(session="a")) == ["run_3", "run_1"]
    assert runs(store, RecordFilter(corpus="other")) == ["run_2"]
    assert runs(store, RecordFilter(version=7)) == ["run_2"]
    assert runs(store, RecordFilter(outcome="not_found", session="a")) == ["run_3"]
    assert runs(store, RecordFilter(outcome="refused")) == []


def test_records_are_found_by_person_way_in_time_and_doubt(store: RecordStore) -> None:
    """Issue: filters; field reports, second list, 19: by channel, version and end-user id."""
    made_up = (Quotation(text="規約のどこにもない引用の文"),)
    store.close_run(replace(record("run_1"), user="田中", channel="voice", door="web"))
    store.close_run(replace(record("run_2"), user="佐藤", started_at="2026-04-02T00:00:00.000Z"))
    store.close_run(replace(record("run_3"), model="anthropic:m", struck_citations=1))
    store.close_run(replace(record("run_4"), started_at="2026-04-03T00:00:00.000Z", quotations=made_up))
    assert runs(store, RecordFilter(user="田中")) == ["run_1"]
    assert runs(store, RecordFilter(user="")) == []
    assert runs(store, RecordFilter(channel="voice")) == ["run_1"]
    assert runs(store, RecordFilter(door="web", channel="text")) == []
    assert runs(store, RecordFilter(model="anthropic:m")) == ["run_3"]
    assert runs(store, RecordFilter(since="2026-04-02T00:00:00.000Z")) == ["run_4", "run_2"]
    assert runs(store, RecordFilter(until="2026-04-02T00:00:00.000Z")) == ["run_3", "run_1"]
    assert runs(store, RecordFilter(is_doubtful=True)) == ["run_4", "run_3"]
    assert runs(store, RecordFilter(is_doubtful=True, limit=1)) == ["run_4"]
    assert runs(store, RecordFilter(is_doubtful=False)) == ["run_2", "run_1"]


def test_records_are_found_by_the_node_they_came_to_and_the_leaf_they_cite(store: RecordStore) -> None:
    """Issue 7: the conversations that walked through a branch, the answers that cite a passage."""
    store.close_run(record("run_1", visits=(visit(1),)))
    store.close_run(record("run_2", visits=(visit(1), visit(2, doc_id="doc_chunk_7"))))
    store.close_run(record("run_3", outcome="not_found"))
    assert runs(store, RecordFilter(visited="cancellation/SKILL.md")) == ["run_2", "run_1"]
    assert runs(store, RecordFilter(visited="cancellation/doc_chunk_7.md")) == ["run_2"]
    assert runs(store, RecordFilter(visited="cancel")) == []
    assert runs(store, RecordFilter(visited="SKILL.md", limit=1)) == ["run_2"]
    assert runs(store, RecordFilter(cited="doc_chunk_7")) == ["run_2", "run_1"]
    assert runs(store, RecordFilter(cited="doc_chunk_8")) == []


@pytest.mark.requirement("N-53")
def test_each_run_of_a_session_has_a_turn_of_its_own(store: RecordStore) -> None:
    """N-53. Two ask at once in one session: both had read that the next turn is the first."""
    assert store.open_run(ids("run_1"), record("run_1"), 60) == 1
    assert store.open_run(ids("run_2"), record("run_2"), 60) == 2
    assert store.open_run(ids("run_3", session="other"), record("run_3"), 60) == 1
    assert store.open_run(ids("run_4", tenant="b"), record("run_4", tenant="b"), 60) == 1
    store.close_run(record("run_2", turn=2))
    assert store.open_run(ids("run_5"), record("run_5"), 60) == 3
    assert store.open_run(ids("run_6", turn=9), record("run_6", turn=9), 60) == 9


@pytest.mark.requirement("N-53")
def test_a_dead_run_keeps_the_turn_that_it_was_given(store: RecordStore, clock: FakeClock) -> None:
    """N-53. Also where another process closes it, and where its words were deleted since."""
    for name in ("run_1", "run_2"):
        store.open_run(ids(name), record(name), 60)
    clock.advance(61)
    assert store.close_dead() == 2
    assert [store.record(TENANT, name).ids.turn for name in ("run_1", "run_2")] == [1, 2]
    store.tombstone(TENANT, ["run_2"])
    assert store.open_run(ids("run_3", turn=2), record("run_3", turn=2), 60) == 3


def test_runs_that_have_not_ended_are_counted(store: RecordStore) -> None:
    """A deletion says what it could not reach."""
    store.open_run(ids("run_1"), replace(record("run_1"), user="田中"), 60)
    store.open_run(ids("run_2", session="b"), record("run_2", session="b"), 60)
    assert store.under_way(TENANT, EVERYTHING) == 2
    assert store.under_way(TENANT, RecordFilter(user="田中")) == 1
    assert store.under_way(TENANT, RecordFilter(session="b")) == 1
    assert store.under_way("b", EVERYTHING) == 0
    store.close_run(record("run_2", session="b"))
    assert store.under_way(TENANT, RecordFilter(session="b")) == 0


def test_a_kept_head_is_found_again_however_the_chain_has_grown(store: RecordStore) -> None:
    """design.md: a cut tail shows against a kept head."""
    empty = store.verify(TENANT).head
    store.close_run(record("run_1"))
    head = store.verify(TENANT).head
    store.close_run(record("run_2", turn=2))
    assert store.verify(TENANT).kept_head_at is None
    assert (store.verify(TENANT, head).kept_head_at, store.verify(TENANT, head).faults) == (1, ())
    assert store.verify(TENANT, empty).kept_head_at == 0
    lost = store.verify(TENANT, "f" * 64)
    assert (lost.kept_head_at, [fault.code for fault in lost.faults]) == (None, ["head_missing"])


def test_what_had_no_room_is_no_evidence_of_a_run_found_dead(store: RecordStore, clock: FakeClock) -> None:
    """Evidence: the leaves that a run read."""
    store.open_run(ids("run_1"), record("run_1"), 60)
    store.add_visit(ids("run_1"), replace(visit(1), status="too_large"))
    clock.advance(61)
    assert store.close_dead() == 1
    closed = store.record(TENANT, "run_1")
    assert ([seen.status for seen in closed.visits], closed.evidence) == (["too_large"], ())


def test_a_visit_that_is_written_twice_is_there_once(store: RecordStore, clock: FakeClock) -> None:
    """A transaction may be carried out again where another process was quicker."""
    store.open_run(ids("run_1"), record("run_1"), 60)
    for number in (1, 1, 2):
        store.add_visit(ids("run_1"), visit(number))
    clock.advance(61)
    store.close_dead()
    assert [seen.number for seen in store.record(TENANT, "run_1").visits] == [1, 2]


def test_what_was_spent_is_summed_and_stays_when_the_words_are_deleted(store: RecordStore) -> None:
    """Spending limits of a session and of a tenant's day; a deletion gives no money back."""
    assert store.spent(TENANT) == 0
    store.close_run(replace(record("run_1"), usd=0.25))
    store.close_run(replace(record("run_2", session="b"), usd=0.5, started_at="2026-04-02T09:00:00.000Z"))
    store.close_run(record("run_3"))
    store.close_run(replace(record("run_4", tenant="b"), usd=4.0))
    store.tombstone(TENANT, ["run_1"])
    assert store.spent(TENANT) == 0.75
    assert store.spent(TENANT, session="s") == 0.25
    assert store.spent(TENANT, since=datetime(2026, 4, 2, tzinfo=UTC)) == 0.5
    assert store.spent(TENANT, session="s", since=datetime(2026, 4, 2, tzinfo=UTC)) == 0


def test_many_records_come_all_and_in_order(store: RecordStore) -> None:
    """Whatever is read at once, nothing is left out or doubled."""
    for number in range(205):
        store.close_run(record(f"run_{number}"))
    expected = [f"run_{number}" for number in reversed(range(205))]
    assert runs(store) == expected
    assert runs(store, RecordFilter(limit=200)) == expected[:200]
    assert runs(store, RecordFilter(limit=201)) == expected[:201]
    assert store.verify(TENANT).records == 205


def test_tenants_do_not_see_each_other(store: RecordStore) -> None:
    """design.md, section 6: never mix."""
    store.close_run(record("run_1", tenant="a"))
    store.close_run(record("run_1", tenant="b", answer="b の回答"))
    assert [found.ids.tenant for found in store.records("a", EVERYTHING)] == ["a"]
    assert store.record("b", "run_1").answer == "b の回答"
    assert store.session("a", "s", "terms").turns == (
        Turn(question="年額プランの解約は？", answer="末日までです。"),
    )
    assert store.verify("a").records == 1
    assert store.cited_versions("c", "terms") == frozenset()


def test_a_session_has_its_turns_in_order(store: RecordStore) -> None:
    """N-19, N-20. The article: 残すのは「何を聞かれて、何と答えたか」という発言だけ."""
    store.close_run(record("run_2", turn=2, question="月額は？", answer="月末です。"))
    store.close_run(record("run_1", turn=1, question="年額は？", answer="末日です。"))
    store.close_run(record("run_3", session="other"))
    session = store.session(TENANT, "s", "terms")
    assert session.turns == (
        Turn(question="年額は？", answer="末日です。"),
        Turn(question="月額は？", answer="月末です。"),
    )
    assert session.next_turn == 3


@pytest.mark.requirement("N-59")
@pytest.mark.parametrize("outcome", ["answered", "timed_out"])
def test_an_answer_that_was_spoken_over_is_remembered_as_far_as_it_was_heard(
    store: RecordStore, outcome: Outcome
) -> None:
    """design.md: an interruption keeps what was heard. The record itself stays as it was closed."""
    store.close_run(record("run_1", turn=1, answer="末日までです。返金はありません。"))
    heard = Heard(run="run_1", characters=7)
    store.close_run(record("run_2", turn=2, outcome=outcome, heard_before=heard))
    store.close_run(record("run_3", turn=3, outcome="interrupted", heard=""))
    answers = [turn.answer for turn in store.session(TENANT, "s", "terms").turns]
    assert (answers[0], answers[-1]) == ("末日までです。", "")
    assert store.record(TENANT, "run_1").answer == "末日までです。返金はありません。"
    assert store.record(TENANT, "run_2").heard_before == heard
    assert store.verify(TENANT).faults == ()


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_turn_without_an_answer_is_not_remembered_and_keeps_its_number(
    store: RecordStore, outcome: Outcome
) -> None:
    """A failure says nothing of the matter; a refused question would have the next one refused too."""
    store.close_run(record("run_1", outcome=outcome))
    session = store.session(TENANT, "s", "terms")
    is_remembered = outcome in ("answered", "not_found", "fetch_limit", "interrupted")
    assert len(session.turns) == int(is_remembered)
    assert session.next_turn == 2


def test_what_was_asked_of_another_corpus_is_not_remembered_and_keeps_its_number(store: RecordStore) -> None:
    """What one corpus says is not told to those who ask another; the conversation's numbers go on."""
    store.close_run(record("run_1", turn=1, corpus="internal", answer="社外秘です。"))
    store.close_run(record("run_2", turn=2))
    session = store.session(TENANT, "s", "terms")
    assert session.turns == (Turn(question="年額プランの解約は？", answer="末日までです。"),)
    assert (session.next_turn, store.session(TENANT, "s", "new").turns) == (3, ())


def test_a_tombstone_takes_the_words_and_leaves_the_chain_whole(store: RecordStore) -> None:
    """P-20. design.md: deleting replaces the payload by a dated tombstone and the chain still verifies."""
    for name in ("run_1", "run_2", "run_3"):
        store.close_run(record(name))
    store.tombstone(TENANT, ["run_2", "run_unknown"])
    store.tombstone(TENANT, [])
    assert runs(store) == ["run_3", "run_1"]
    with pytest.raises(RecordNotFound):
        store.record(TENANT, "run_2")
    verdict = store.verify(TENANT)
    assert (verdict.records, verdict.faults) == (3, ())
    store.close_run(record("run_4"))
    assert store.verify(TENANT).faults == ()


def test_versions_that_a_record_or_a_run_stands_on_are_cited(store: RecordStore) -> None:
    """design.md, section 4: a version stays while a kept record cites it, and a run is pinned to its own."""
    store.close_run(record("run_1", version=1))
    store.close_run(record("run_2", version=3))
    store.close_run(record("run_3", version=9, corpus="other"))
    store.open_run(ids("run_4", version=5), record("run_4", version=5), 60)
    assert store.cited_versions(TENANT, "terms") == frozenset({1, 3, 5})


def test_a_run_whose_owner_died_is_closed_with_the_visits_so_far(
    store: RecordStore, clock: FakeClock
) -> None:
    """N-24. The article: どの経路で終わっても、ここまでに辿った足跡と終了の種別が必ず記録に残る."""
    opening = record("run_1", outcome="stopped", answer="中断されました。")
    store.open_run(opening.ids, opening, 60)
    store.add_visit(opening.ids, visit(1, is_prefetched=True))
    store.add_visit(opening.ids, visit(2, doc_id="doc_chunk_7"))
    clock.advance(59)
    assert store.close_dead() == 0
    clock.advance(1)
    assert store.close_dead() == 1
    assert store.close_dead() == 0
    closed = store.record(TENANT, "run_1")
    assert (closed.outcome, closed.answer) == ("stopped", "中断されました。")
    assert closed.visits == (visit(1, is_prefetched=True), visit(2, doc_id="doc_chunk_7"))
    assert closed.fetches == 1
    assert [(leaf.doc_id, leaf.source, leaf.place) for leaf in closed.evidence] == [
        ("doc_chunk_7", "利用規約.docx", "第12条")
    ]
    assert (closed.rounds, closed.usd) == (1, None)
    assert closed.usage == Usage(input_tokens=20, output_tokens=4)
    assert store.verify(TENANT).faults == ()


def test_a_late_owner_does_not_undo_the_closing(store: RecordStore, clock: FakeClock) -> None:
    """Another process closed the run; its record is in the chain for good."""
    opening = record("run_1", outcome="stopped", answer="")
    store.open_run(opening.ids, opening, 60)
    clock.advance(61)
    store.close_dead()
    store.add_visit(opening.ids, visit(1))
    store.close_run(record("run_1"))
    assert store.record(TENANT, "run_1").outcome == "stopped"
    assert store.close_dead() == 0


def test_a_chain_verifies_and_its_head_moves(store: RecordStore) -> None:
    """design.md: one chain a tenant; a cut tail shows against a kept head."""
    heads = set[str]()
    for number in range(3):
        store.close_run(record(f"run_{number}"))
        verdict = store.verify(TENANT)
        assert (verdict.records, verdict.faults) == (number + 1, ())
        heads.add(verdict.head)
    assert len(heads) == 3


texts = st.text(max_size=60)


@pytest.mark.parametrize("kind", ["sqlite", "memory"])
@given(question=texts, answer=texts, session=st.text(min_size=1, max_size=20))
@example(question="解約は？\u2028𩸽\x00", answer="末日です。[1]\u3000", session="会話/１")
@settings(max_examples=15, deadline=None)
def test_what_was_said_comes_back_as_it_was(
    kind: str, question: str, answer: str, session: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Promised by design.md: lossless."""
    url = records_url(tmp_path_factory.mktemp("w"))
    store = SqlRecordStore(url, FakeClock()) if kind == "sqlite" else FakeRecordStore(FakeClock())
    closed = replace(record("run_1", session=session), question=question, answer=answer)
    store.close_run(closed)
    assert store.record(TENANT, "run_1") == closed
    assert store.session(TENANT, session, "terms").turns == (Turn(question=question, answer=answer),)
    assert store.verify(TENANT).faults == ()


def judged(*, is_helpful: bool, comment: str | None = None) -> Feedback:
    return Feedback(
        is_helpful=is_helpful,
        reasons=() if is_helpful else ("wrong", "outdated"),
        comment=comment,
        given_at="2026-04-01T10:00:00.000Z",
        given_by="user_1",
    )


@pytest.mark.requirement("S-68")
def test_what_people_say_of_answers_is_kept_found_and_changed(store: RecordStore) -> None:
    """Field reports: filter by thumbs and has-comment."""
    for number in (1, 2, 3):
        store.close_run(record(f"run_{number}"))
    store.put_feedback(TENANT, "run_1", judged(is_helpful=False, comment="=古い"))
    store.put_feedback(TENANT, "run_2", judged(is_helpful=False))
    store.put_feedback(TENANT, "run_2", judged(is_helpful=True))
    said = store.feedback(TENANT, ("run_1", "run_2", "run_3", "run_9"))
    assert said == {"run_1": judged(is_helpful=False, comment="=古い"), "run_2": judged(is_helpful=True)}
    assert runs(store, RecordFilter(is_helpful=False)) == ["run_1"]
    assert runs(store, RecordFilter(is_helpful=True)) == ["run_2"]
    assert runs(store, RecordFilter(has_comment=True)) == ["run_1"]
    assert runs(store, RecordFilter(has_comment=False)) == ["run_3", "run_2"]
    assert store.feedback("other", ("run_1",)) == {}
    with pytest.raises(RecordNotFound):
        store.put_feedback("other", "run_1", judged(is_helpful=True))


@pytest.mark.requirement("S-68")
def test_what_was_said_of_an_answer_is_deleted_with_it(store: RecordStore) -> None:
    """Issue: the server."""
    store.close_run(record("run_1"))
    store.put_feedback(TENANT, "run_1", judged(is_helpful=False, comment="私は田中です"))
    store.tombstone(TENANT, ("run_1",))
    assert store.feedback(TENANT, ("run_1",)) == {}
    with pytest.raises(RecordNotFound):
        store.put_feedback(TENANT, "run_1", judged(is_helpful=True))
    assert store.verify(TENANT).faults == ()


@pytest.mark.requirement("S-69")
def test_a_list_goes_on_behind_a_record_even_a_deleted_one(store: RecordStore) -> None:
    """Issue: the server."""
    for number in (1, 2, 3, 4):
        store.close_run(record(f"run_{number}"))
    store.tombstone(TENANT, ("run_3",))
    assert runs(store, RecordFilter(before="run_4", limit=1)) == ["run_2"]
    assert runs(store, RecordFilter(before="run_3")) == ["run_2", "run_1"]
    assert runs(store, RecordFilter(before="run_1")) == []
    assert runs(store, RecordFilter(before="run_unknown")) == []


@pytest.mark.requirement("S-66")
def test_a_run_whose_owner_is_known_to_be_dead_is_closed_before_its_lease_is_over(
    store: RecordStore,
) -> None:
    """Issue: the server."""
    opened = record("run_1")
    store.open_run(opened.ids, opened, 600)
    store.add_visit(opened.ids, visit(1, doc_id="doc_chunk_7"))
    assert not store.close_abandoned("other", "run_1")
    assert store.close_abandoned(TENANT, "run_1")
    assert not store.close_abandoned(TENANT, "run_1")
    closed = store.record(TENANT, "run_1")
    assert (closed.outcome, [seen.number for seen in closed.visits]) == ("stopped", [1])


@pytest.mark.requirement("S-105")
def test_what_runs_came_to_is_summed_up_by_day_and_stays_when_they_are_deleted(store: RecordStore) -> None:
    """Promised by the port: unknown money is counted, and deleting gives none back."""
    known = replace(record("run_1"), usd=0.25, usage=Usage(input_tokens=100, output_tokens=10))
    unknown = replace(known, ids=ids("run_2", turn=2), usd=None)
    other = replace(known, ids=ids("run_3", tenant="other"))
    for one in (known, unknown, other):
        store.open_run(one.ids, one, 60)
        store.close_run(one)
    day = known.started_at[:10]
    (line,) = store.usage(TENANT, day, "2100-01-01")
    assert line == UsageLine(
        day=day,
        corpus="terms",
        model=known.model,
        purpose="navigate",
        calls=2,
        input_tokens=200,
        output_tokens=20,
        dollars=0.25,
        unpriced=1,
    )
    store.tombstone(TENANT, ["run_1", "run_2"])
    assert store.usage(TENANT, day, "2100-01-01") == (line,)
    assert store.usage(TENANT, "2000-01-01", day) == ()
