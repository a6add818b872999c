"""How a test question's run is judged, and where a walk ended."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus2skill.domain.exam import ExamResult, Expectation, compared, judged, questions_fingerprint
from corpus2skill.domain.review import review_entry
from corpus2skill.domain.run import Outcome
from tests.ports.runs import record, visit

TEXTS = st.text(max_size=8)
QUESTIONS = st.lists(st.tuples(TEXTS, st.builds(Expectation, sources=st.lists(TEXTS, max_size=3).map(tuple))))


def result(*sources: str, not_found: bool = False) -> ExamResult:
    expected = Expectation(sources=sources, not_found=not_found)
    return ExamResult(position=0, question_id="question_1", text="問い", expected=expected)


@pytest.mark.requirement("S-121")
@pytest.mark.parametrize(
    ("wanted", "outcome", "passed"),
    [
        (result("利用規約.docx"), "answered", True),
        (result("doc_chunk_7"), "answered", True),
        (result("cancellation/doc_chunk_7.md"), "answered", True),
        (result("cancellation"), "answered", True),
        (result("cancellation/SKILL.md"), "answered", True),
        (result("別の文書.docx", "利用規約.docx"), "answered", True),
        (result("別の文書.docx"), "answered", False),
        (result("cancel"), "answered", False),
        (result("doc_chunk_70"), "answered", False),
        (result("利用規約.docx"), "not_found", False),
        (result("利用規約.docx"), "timed_out", False),
        (result(not_found=True), "not_found", True),
        (result(not_found=True), "answered", False),
        (result("利用規約.docx", not_found=True), "not_found", False),
    ],
)
def test_a_question_goes_well_where_an_expected_source_was_read(
    wanted: ExamResult, outcome: Outcome, passed: bool
) -> None:
    """Issue 6: expected sources (names, doc ids or paths) or not-found."""
    assert judged(wanted, record("run_1", outcome=outcome)).is_passed == passed


@pytest.mark.requirement("S-121")
def test_a_change_is_told_only_of_questions_that_both_asked() -> None:
    """Since the last run on another version."""
    good = judged(result("利用規約.docx"), record("run_1"))
    bad = judged(result("無い.docx"), record("run_2"))
    assert compared(good, {"question_1": bad}).change == "better"
    assert compared(bad, {"question_1": good}).change == "worse"
    assert compared(good, {"question_1": good}).change == "same"
    assert compared(good, {"question_2": good}).change is None
    assert compared(good, {"question_1": result("利用規約.docx")}).change is None


@pytest.mark.requirement("S-122")
@given(QUESTIONS)
@example([("問い", Expectation(sources=("乙", "甲"))), ("問い", Expectation(not_found=True))])
def test_the_fingerprint_of_questions_heeds_no_order(asked: list[tuple[str, Expectation]]) -> None:
    """Today's questions are the same ones, however they are listed."""
    assert questions_fingerprint(asked) == questions_fingerprint(reversed(asked))
    assert questions_fingerprint(asked) != questions_fingerprint([*asked, ("新しい問い", Expectation())])


@pytest.mark.requirement("S-124")
def test_a_walk_ended_in_the_branch_of_its_last_node() -> None:
    """Where a document is missing, or a branch misleads."""
    entry = review_entry(record("run_1", visits=(visit(1), visit(2, doc_id="doc_chunk_7"))))
    assert (entry.branch, entry.branch_title) == ("cancellation/SKILL.md", "解約手続き")
    assert review_entry(record("run_1")).branch == "SKILL.md"
    assert entry.reasons == ()
    assert review_entry(record("run_1", outcome="not_found")).reasons == ("not_found",)
