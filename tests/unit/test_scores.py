"""Scores of a question pack."""

from __future__ import annotations

from dataclasses import replace

from corpus2skill.application.scores import PackAnswer, PackQuestion, interval, score

ANSWER = PackAnswer(
    id="q1",
    leaf_docs=("b.md", "a.md"),
    cited=("a.md",),
    answer="末日まで",
    not_found=False,
    outcome="answered",
    fetches=4,
    input_tokens=0,
    output_tokens=0,
    ms=10,
    usd=0.0,
    visits=4,
    visits_with_reason=3,
)
ASKED = PackQuestion(id="q1", question="いつまで？", gold_docs=("a.md",))
TRAP = PackQuestion(id="q2", question="社食は？", unanswerable=True)


def test_a_gold_source_among_the_leaves_is_a_hit_and_only_the_first_leaf_a_first_hit() -> None:
    """Question packs, README."""
    scores = score([ASKED], [ANSWER])
    assert (scores.doc_hit, scores.first_leaf_hit, scores.gold_recall) == (1.0, 0.0, 1.0)
    assert (scores.citation_precision, scores.reason_share, scores.leaves_mean) == (1.0, 0.75, 2.0)


def test_a_refusal_counts_for_an_unanswerable_question_and_against_an_answerable_one() -> None:
    """Question packs, README: not-found precision, recall, false refusals."""
    refused = replace(ANSWER, not_found=True, leaf_docs=(), cited=())
    scores = score([ASKED, TRAP], [refused, replace(refused, id="q2")])
    assert (scores.not_found_precision, scores.not_found_recall, scores.false_refusals) == (0.5, 1.0, 1.0)


def test_what_was_not_measured_is_none_and_not_zero() -> None:
    """No number is made up."""
    scores = score([], [])
    assert (scores.doc_hit, scores.not_found_recall, scores.fetches_mean, scores.ms_p95) == (None,) * 4


def test_the_interval_is_the_same_on_every_run_and_holds_the_mean() -> None:
    """Efron's percentile bootstrap with a fixed seed."""
    values = [1.0] * 30 + [0.0] * 10
    low, high = interval(values) or (1.0, 0.0)
    assert (low, high) == interval(values)
    assert low < 0.75 < high
