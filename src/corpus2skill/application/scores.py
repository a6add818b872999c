"""Scores of a run over a question pack: what was read, what was refused, what it took."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from corpus2skill.domain.money import total

_RESAMPLES = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class PackQuestion:
    """A line of a pack's questions."""

    id: str
    question: str
    gold_docs: tuple[str, ...] = ()
    """Source names of which one must be read."""
    gold_answer: str | None = None
    unanswerable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class PackAnswer:
    """A line of RUN.jsonl."""

    id: str
    leaf_docs: tuple[str, ...]
    """Sources of the leaves, in the order read."""
    cited: tuple[str, ...]
    answer: str
    not_found: bool
    outcome: str
    fetches: int
    input_tokens: int
    output_tokens: int
    ms: int
    usd: float | None
    visits: int
    visits_with_reason: int
    quotations: int = 0
    quotations_held: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Shares are 0 to 1; None where there was nothing to measure."""

    questions: int
    answerable: int
    unanswerable: int
    doc_hit: float | None
    """A gold source is among the leaves read."""
    doc_hit_ci95: tuple[float, float] | None
    first_leaf_hit: float | None
    gold_recall: float | None
    citation_precision: float | None
    not_found_precision: float | None
    not_found_recall: float | None
    false_refusals: float | None
    """Answerable questions that were refused."""
    fetches_mean: float | None
    fetches_max: int
    leaves_mean: float | None
    reason_share: float | None
    """Visits with a reason of the model's own."""
    quotations_held: float | None
    """Quotations in answers that stand word for word in a leaf read, or are names."""
    input_tokens_mean: float | None
    """A question. None, like the next three, where no model was paid."""
    output_tokens_mean: float | None
    usd_mean: float | None
    """A question. None also where the price is unknown."""
    usd_total: float | None
    ms_p50: float | None
    ms_p95: float | None


def score(questions: Sequence[PackQuestion], answers: Sequence[PackAnswer]) -> Scores:
    """Hold answers against their questions; `answers` has one line for each question, in order."""
    pairs = list(zip(questions, answers, strict=True))
    gold = [(q, a) for q, a in pairs if not q.unanswerable and q.gold_docs]
    refusable = [a for q, a in pairs if q.unanswerable]
    refused = [a for _, a in pairs if a.not_found]
    hits = [float(bool(set(a.leaf_docs) & set(q.gold_docs))) for q, a in gold]
    cited = [(q, source) for q, a in gold for source in set(a.cited)]
    is_paid = any(a.input_tokens or a.output_tokens for a in answers)
    spent = total(a.usd for a in answers)
    return Scores(
        questions=len(pairs),
        answerable=len(gold),
        unanswerable=len(refusable),
        doc_hit=_mean(hits),
        doc_hit_ci95=interval(hits),
        first_leaf_hit=_share(gold, lambda q, a: bool(set(a.leaf_docs[:1]) & set(q.gold_docs))),
        gold_recall=_mean([_recall(q, a) for q, a in gold]),
        citation_precision=_mean([float(source in q.gold_docs) for q, source in cited]),
        not_found_precision=_mean([float(a in refusable) for a in refused]),
        not_found_recall=_mean([float(a.not_found) for a in refusable]),
        false_refusals=_share(gold, lambda _, a: a.not_found),
        fetches_mean=_mean([a.fetches for a in answers]),
        fetches_max=max((a.fetches for a in answers), default=0),
        leaves_mean=_mean([len(a.leaf_docs) for a in answers]),
        reason_share=_reason_share(answers),
        quotations_held=_held_share(answers),
        input_tokens_mean=_mean([a.input_tokens for a in answers]) if is_paid else None,
        output_tokens_mean=_mean([a.output_tokens for a in answers]) if is_paid else None,
        usd_mean=round(spent / len(answers), 6) if is_paid and spent is not None else None,
        usd_total=round(spent, 6) if is_paid and spent is not None else None,
        ms_p50=_quantile([a.ms for a in answers], 0.5),
        ms_p95=_quantile([a.ms for a in answers], 0.95),
    )


def interval(values: Sequence[float]) -> tuple[float, float] | None:
    """95 % percentile bootstrap interval of the mean (Efron 1979), with a fixed seed."""
    if not values:
        return None
    chance = random.Random(0)  # noqa: S311 - resampling, not secrecy
    means = sorted(sum(chance.choices(values, k=len(values))) / len(values) for _ in range(_RESAMPLES))
    return round(means[int(0.025 * _RESAMPLES)], 3), round(means[int(0.975 * _RESAMPLES)], 3)


def _recall(question: PackQuestion, answer: PackAnswer) -> float:
    gold = set(question.gold_docs)
    return len(gold & set(answer.leaf_docs)) / len(gold)


def _reason_share(answers: Sequence[PackAnswer]) -> float | None:
    visits = sum(answer.visits for answer in answers)
    return round(sum(answer.visits_with_reason for answer in answers) / visits, 4) if visits else None


def _held_share(answers: Sequence[PackAnswer]) -> float | None:
    quotations = sum(answer.quotations for answer in answers)
    return round(sum(answer.quotations_held for answer in answers) / quotations, 4) if quotations else None


def _share(
    pairs: Sequence[tuple[PackQuestion, PackAnswer]], holds: Callable[[PackQuestion, PackAnswer], bool]
) -> float | None:
    return _mean([float(holds(question, answer)) for question, answer in pairs])


def _mean(values: Sequence[float]) -> float | None:
    return round(sum(values) / len(values), 4) if values else None


def _quantile(values: Sequence[float], share: float) -> float | None:
    return sorted(values)[min(int(share * len(values)), len(values) - 1)] if values else None
