"""The small corpora that the not-found rule is judged on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

SMALL = Path(__file__).parents[2] / "benchmarks" / "small_corpora"
CORPORA = sorted(path.parent for path in SMALL.glob("*/*/questions.jsonl"))


@pytest.mark.parametrize("corpus", CORPORA, ids=lambda corpus: corpus.name)
def test_a_small_corpus_has_answerable_and_unanswerable_questions_with_their_sources(corpus: Path) -> None:
    """Issue 3: enough of both kinds, and each source exists."""
    lines = (corpus / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line) for line in lines]
    answerable = [question for question in questions if not question["unanswerable"]]
    assert len(answerable) >= 15
    assert 8 <= len(questions) - len(answerable) <= 15
    assert len({question["id"] for question in questions}) == len(questions)
    assert all(
        (corpus / "corpus" / name).is_file() for question in answerable for name in question["gold_docs"]
    )
    assert all(bool(question["gold_docs"]) != question["unanswerable"] for question in questions)


def test_some_are_looked_at_and_some_are_kept_aside() -> None:
    """A rule is judged on what it was not set on."""
    assert len(CORPORA) >= 12
    assert {corpus.parent.name for corpus in CORPORA} == {"held_out", "tune"}
