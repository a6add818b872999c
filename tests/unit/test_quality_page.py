"""The page that `eval` writes beside RUN.jsonl."""

from __future__ import annotations

from dataclasses import replace

import pytest
from lxml import html

from corpus2skill.application.evaluate import Asked, Evaluation
from corpus2skill.application.quality_page import failure_of, hits_by_leaves, quality_page
from corpus2skill.application.scores import PackQuestion, score
from corpus2skill.domain.trail import Visit
from tests.unit.test_scores import ANSWER, ASKED, TRAP

VISIT = Visit(
    number=1,
    node="cancellation",
    path="cancellation/SKILL.md",
    title="解約 <手続き>",
    node_type="skill_summary",
    status="found",
    reason="解約の枝を見ます",
    has_reason=True,
    is_shared_reason=False,
    is_prefetched=False,
    offered=(),
    doc_id=None,
    model_ms=1,
    fetch_ms=1,
    elapsed_ms=2,
)
READ = Asked(question=ASKED, answer=ANSWER, visits=(VISIT,), flat_docs=("a.md",))
MISSED = replace(READ, answer=replace(ANSWER, leaf_docs=("b.md",)))
REFUSED = replace(READ, answer=replace(ANSWER, not_found=True))
INVENTED = replace(READ, question=TRAP)


def evaluation(*asked: Asked) -> Evaluation:
    return Evaluation(
        corpus="eval-plans",
        version=1,
        pack="plans <ja>",
        model="offline",
        leaves=20,
        asked=asked,
        scores=score([one.question for one in asked], [one.answer for one in asked]),
    )


def test_each_kind_of_failure_is_told_and_a_right_answer_is_none() -> None:
    """Issue: failures with their trails."""
    kinds = [failure_of(one) for one in (READ, MISSED, REFUSED, INVENTED)]
    assert kinds == [None, "gold_not_read", "false_refusal", "answered_unanswerable"]
    refused_trap = replace(INVENTED, answer=replace(ANSWER, not_found=True))
    assert failure_of(refused_trap) is None


def test_the_curve_counts_a_question_from_the_first_leaf_that_hits() -> None:
    """Issue: a plot of hits against leaves read."""
    assert hits_by_leaves([("b", "a"), ("c",)], [("a",), ("c", "d")], 3) == [0.5, 1.0, 1.0]


@pytest.mark.parametrize("language", ["ja", "en"])
def test_the_page_needs_no_other_file_and_shows_scores_plot_and_trails(language: str) -> None:
    """Issue: self-contained; texts of documents are data and not markup."""
    page = quality_page(evaluation(READ, MISSED, INVENTED), language)
    tree = html.fromstring(page)
    assert not tree.xpath("//script | //link | //img | //@src | //@href")
    assert tree.xpath("string(//h1)").endswith("plans <ja>")
    assert len(tree.xpath("//polyline")) == 2
    assert len(tree.xpath("//details")) == 2
    assert "解約 <手続き>" in tree.xpath("string(//details[1])")


def test_a_pack_without_failures_or_answerable_questions_still_gives_a_page() -> None:
    """Nothing measured is shown as nothing, not as zero."""
    asked = replace(INVENTED, answer=replace(ANSWER, not_found=True))
    page = quality_page(evaluation(asked, replace(asked, question=PackQuestion(id="q", question="?"))), "en")
    assert "–" in page
