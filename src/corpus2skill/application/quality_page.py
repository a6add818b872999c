"""A self-contained page that shows how well a question pack was answered, and where it failed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from html import escape

from corpus2skill.application.evaluate import Asked, Evaluation
from corpus2skill.application.scores import Scores, interval
from corpus2skill.domain.trail import Visit
from corpus2skill.messages import message

_STYLE = """
:root{color-scheme:light dark;--ink:#1c2329;--soft:#5d6b76;--line:#d5dce1;--paper:#fff;--tree:#0b6e4f;--flat:#a4500f}
@media(prefers-color-scheme:dark){:root{--ink:#e6ebef;--soft:#9aa8b3;--line:#37424b;--paper:#12171b;--tree:#5cc9a0;--flat:#f0a35e}}
body{margin:2rem auto;max-width:56rem;padding:0 1rem;background:var(--paper);color:var(--ink);font:1rem/1.7 system-ui,"Noto Sans CJK JP","Hiragino Sans",sans-serif}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.5rem;border-bottom:1px solid var(--line)}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.35rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}
th+th{text-align:right}td.n{font-variant-numeric:tabular-nums;text-align:right;white-space:nowrap}.soft{color:var(--soft)}
details{border-bottom:1px solid var(--line);padding:.5rem 0}summary{cursor:pointer}ol{margin:.5rem 0}
svg{width:100%;height:auto}svg text{fill:var(--soft);font-size:12px}svg .axis{stroke:var(--line)}
.tree{stroke:var(--tree);fill:none;stroke-width:2.5}.flat{stroke:var(--flat);fill:none;stroke-width:2.5;stroke-dasharray:7 5}
svg text.treeword{fill:var(--tree)}svg text.flatword{fill:var(--flat)}
"""
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 640, 300, 48, 36
_MOST_FAILURES = 200
_SHOWN = (
    "doc_hit",
    "first_leaf_hit",
    "gold_recall",
    "citation_precision",
    "not_found_precision",
    "not_found_recall",
    "false_refusals",
    "fetches_mean",
    "fetches_max",
    "leaves_mean",
    "reason_share",
    "quotations_held",
    "ms_p50",
    "ms_p95",
)
_SHOWN_WHERE_PAID = ("input_tokens_mean", "output_tokens_mean", "usd_mean", "usd_total")


def quality_page(evaluation: Evaluation, language: str) -> str:
    """Return the page as HTML that needs no other file and no network."""
    title = message(language, "page.title", pack=evaluation.pack)
    parts = [
        f"<!doctype html><html lang={language}><meta charset=utf-8>",
        '<meta name=viewport content="width=device-width,initial-scale=1">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style><h1>{escape(title)}</h1>",
        f"<p class=soft>{escape(_about(evaluation, language))}</p>",
        f"<h2>{_say(language, 'page.scores')}</h2>{_score_table(evaluation, language)}",
        f"<h2>{_say(language, 'page.curve')}</h2>{_curve(evaluation.asked, language)}",
        f"<h2>{_say(language, 'page.failures')}</h2>",
        *_failures(evaluation.asked, language),
    ]
    return "\n".join(parts) + "\n"


def hits_by_leaves(
    documents: Sequence[Sequence[str]], gold: Sequence[Sequence[str]], most: int
) -> list[float]:
    """Return the share of questions with a gold source among their first 1, 2, ... `most` leaves."""
    return [
        sum(bool(set(read[:count]) & set(wanted)) for read, wanted in zip(documents, gold, strict=True))
        / max(len(gold), 1)
        for count in range(1, most + 1)
    ]


def _about(evaluation: Evaluation, language: str) -> str:
    return message(
        language,
        "page.about",
        questions=len(evaluation.asked),
        leaves=evaluation.leaves,
        version=evaluation.version,
        model=evaluation.model,
    )


def _score_table(evaluation: Evaluation, language: str) -> str:
    scores = evaluation.scores
    intervals = {"doc_hit": scores.doc_hit_ci95, "first_leaf_hit": _first_leaf_interval(evaluation.asked)}
    rows = [
        f"<tr><td>{_say(language, f'page.score.{name}')}<td class=n>{_number(_value(scores, name))}"
        f"<td class='n soft'>{_range(intervals.get(name))}"
        for name in (*_SHOWN, *(_SHOWN_WHERE_PAID if scores.input_tokens_mean is not None else ()))
    ]
    head = "".join(f"<th>{_say(language, f'page.column.{name}')}" for name in ("score", "value", "interval"))
    return f"<table><thead><tr>{head}<tbody>{''.join(rows)}</table>"


def _value(scores: Scores, name: str) -> float | None:
    values: dict[str, float | None] = {
        "doc_hit": scores.doc_hit,
        "first_leaf_hit": scores.first_leaf_hit,
        "gold_recall": scores.gold_recall,
        "citation_precision": scores.citation_precision,
        "not_found_precision": scores.not_found_precision,
        "not_found_recall": scores.not_found_recall,
        "false_refusals": scores.false_refusals,
        "fetches_mean": scores.fetches_mean,
        "fetches_max": scores.fetches_max,
        "leaves_mean": scores.leaves_mean,
        "reason_share": scores.reason_share,
        "quotations_held": scores.quotations_held,
        "input_tokens_mean": scores.input_tokens_mean,
        "output_tokens_mean": scores.output_tokens_mean,
        "usd_mean": scores.usd_mean,
        "usd_total": scores.usd_total,
        "ms_p50": scores.ms_p50,
        "ms_p95": scores.ms_p95,
    }
    return values[name]


def _first_leaf_interval(asked: Sequence[Asked]) -> tuple[float, float] | None:
    return interval(
        [float(bool(set(one.answer.leaf_docs[:1]) & set(one.question.gold_docs))) for one in _gold(asked)]
    )


def _gold(asked: Iterable[Asked]) -> list[Asked]:
    return [one for one in asked if one.question.gold_docs and not one.question.unanswerable]


def _curve(asked: Sequence[Asked], language: str) -> str:
    """Hits against leaves read, for the walk down the tree and for flat BM25 over the same leaves."""
    gold = _gold(asked)
    wanted = [one.question.gold_docs for one in gold]
    most = 8
    tree = hits_by_leaves([one.answer.leaf_docs for one in gold], wanted, most)
    flat = hits_by_leaves([one.flat_docs for one in gold], wanted, most)
    ticks = "".join(_tick_x(count, most) for count in range(1, most + 1))
    ticks += "".join(_tick_y(share / 5) for share in range(6))
    words = _end_words(tree[-1], flat[-1], language)
    label = _say(language, "page.curve_alt", tree=f"{tree[-1]:.2f}", flat=f"{flat[-1]:.2f}")
    note = f"<p class=soft>{_say(language, 'page.curve_note')}</p>"
    return (
        f"<svg viewBox='0 0 {_WIDTH} {_HEIGHT}' role=img aria-label='{label}'>{ticks}"
        f"{_line('flat', flat)}{_line('tree', tree)}{words}</svg>{note}"
    )


def _x(count: int, most: int) -> float:
    return _LEFT + (count - 1) * (_WIDTH - _LEFT - 90) / (most - 1)


def _y(share: float) -> float:
    return 12 + (1 - share) * (_HEIGHT - _BOTTOM - 12)


def _tick_x(count: int, most: int) -> str:
    return f"<text x='{_x(count, most):.0f}' y='{_HEIGHT - 12}' text-anchor=middle>{count}</text>"


def _tick_y(share: float) -> str:
    at = _y(share)
    return (
        f"<line class=axis x1='{_LEFT}' x2='{_WIDTH - 90}' y1='{at:.0f}' y2='{at:.0f}'/>"
        f"<text x='{_LEFT - 8}' y='{at + 4:.0f}' text-anchor=end>{share:.1f}</text>"
    )


def _line(kind: str, shares: Sequence[float]) -> str:
    points = " ".join(
        f"{_x(count, len(shares)):.1f},{_y(share):.1f}" for count, share in enumerate(shares, start=1)
    )
    return f"<polyline class={kind} points='{points}'/>"


def _end_words(tree: float, flat: float, language: str) -> str:
    """The names of the two lines at their ends, kept apart where the ends lie close."""
    tree_y, flat_y = _y(tree), _y(flat)
    if abs(tree_y - flat_y) < 16:
        middle = (tree_y + flat_y) / 2
        tree_y, flat_y = (middle - 8, middle + 8) if tree >= flat else (middle + 8, middle - 8)
    at = _WIDTH - 82
    return (
        f"<text class=treeword x='{at}' y='{tree_y + 4:.0f}'>{_say(language, 'page.tree')}</text>"
        f"<text class=flatword x='{at}' y='{flat_y + 4:.0f}'>{_say(language, 'page.flat')}</text>"
    )


def _failures(asked: Sequence[Asked], language: str) -> Iterator[str]:
    failed = [(one, kind) for one in asked if (kind := failure_of(one)) is not None]
    if not failed:
        yield f"<p>{_say(language, 'page.no_failures')}</p>"
    for one, kind in failed[:_MOST_FAILURES]:
        yield _failure(one, kind, language)
    if len(failed) > _MOST_FAILURES:
        yield f"<p>{_say(language, 'page.more_failures', count=len(failed) - _MOST_FAILURES)}</p>"


def failure_of(one: Asked) -> str | None:
    """Return which kind of failure a question ended in, None for none."""
    if one.question.unanswerable:
        return None if one.answer.not_found else "answered_unanswerable"
    if one.answer.not_found:
        return "false_refusal"
    if one.question.gold_docs and not set(one.answer.leaf_docs) & set(one.question.gold_docs):
        return "gold_not_read"
    return None


def _failure(one: Asked, kind: str, language: str) -> str:
    wanted = ", ".join(one.question.gold_docs) or "-"
    steps = "".join(f"<li>{_step(visit)}" for visit in one.visits)
    return (
        f"<details><summary>{escape(one.question.question)} "
        f"<span class=soft>({_say(language, f'page.failure.{kind}')})</span></summary>"
        f"<p>{_say(language, 'page.wanted', sources=wanted)}<p>{escape(one.answer.answer)}<ol>{steps}</ol></details>"
    )


def _step(visit: Visit) -> str:
    return f"{escape(visit.title)} <code class=soft>{escape(visit.path)}</code><br><span class=soft>{escape(visit.reason)}</span>"


def _say(language: str, key: str, **values: object) -> str:
    return escape(message(language, key, **values))


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def _range(values: tuple[float, float] | None) -> str:
    return "" if values is None else f"{values[0]:g} – {values[1]:g}"
