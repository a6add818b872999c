"""Which sentences of the leaves read answer the question best."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from corpus2skill.adapters.offline.question import Question
from corpus2skill.adapters.offline.sentences import Sentence, joint, sentences
from corpus2skill.adapters.offline.shortening import shortened
from corpus2skill.adapters.offline.walk import ReadLeaf
from corpus2skill.adapters.offline.words import index_words

PASSAGE_LIMIT = 220
"""Characters of one quotation."""
_TITLE_SHARE = 0.5
"""What a word of the question is worth that stands in the title and not in the sentence."""
_QUESTION_SHARE = 0.9
"""The same where the title is itself a question: what follows answers it."""
_NEIGHBOUR_SHARE = 0.3
_LEAF_SHARE = 0.3
"""How far a passage is judged by its whole leaf."""
_KIND_BONUS = 0.15
_DIGIT = re.compile(r"[0-9０-９一二三四五六七八九十百千万]")
_DATE = re.compile(
    r"\d+\s*(?:年|月|日|時|分|世紀)|(?:19|20)\d\d|[月火水木金土日]曜|January|February|March|April|May|June|July|August|September|October|November|December"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Neighbouring sentences of one leaf."""

    doc_id: str
    text: str
    score: float
    """About the share of the question that it covers, with a little for what fits the kind of answer."""


def best_passages(
    question: Question,
    leaves: Sequence[ReadLeaf],
    fit: Mapping[str, float],
    rarity: Callable[[str], float],
    *,
    most_sentences: int,
) -> list[Passage]:
    """Return the best passage of each leaf, best first. `fit` says how well each leaf fits as a whole."""
    weights = {word: weight * rarity(word) for word, weight in question.words}
    found = [_best_of(leaf, fit.get(leaf.path, 0.0), question, weights, most_sentences) for leaf in leaves]
    passages = [passage for passage in found if passage is not None]
    return sorted(passages, key=lambda passage: -passage.score)


def _best_of(
    leaf: ReadLeaf, fit: float, question: Question, weights: Mapping[str, float], most_sentences: int
) -> Passage | None:
    pieces = list(sentences(leaf.body))
    if not pieces:
        return None
    total = sum(weights.values()) or 1.0
    held = [frozenset(index_words(piece.text)) & weights.keys() for piece in pieces]
    above = _words_above(leaf.title, pieces, weights)
    share = _QUESTION_SHARE if leaf.title.endswith(("?", "？")) else _TITLE_SHARE
    scores = [
        _score(at, pieces, held, above[at], share, weights, question) / total for at in range(len(pieces))
    ]
    best = max(range(len(pieces)), key=lambda at: (round(scores[at], 6), -at))
    first, last = _grown(best, pieces, held, scores, most_sentences)
    text = ""
    for piece in pieces[first : last + 1]:
        text += joint(text, piece.text) + piece.text
    return Passage(
        doc_id=leaf.doc_id,
        text=shortened(text, PASSAGE_LIMIT),
        score=round(scores[best] * (1 - _LEAF_SHARE + _LEAF_SHARE * fit), 6),
    )


def _words_above(
    title: str, pieces: Sequence[Sentence], weights: Mapping[str, float]
) -> list[frozenset[str]]:
    """For each piece the question's words in the title and in the heading that it stands under."""
    of_title = frozenset(index_words(title)) & weights.keys()
    above = of_title
    found: list[frozenset[str]] = []
    for piece in pieces:
        if piece.kind == "heading":
            above = of_title | (frozenset(index_words(piece.text)) & weights.keys())
        found.append(above)
    return found


def _score(
    at: int,
    pieces: Sequence[Sentence],
    held: Sequence[frozenset[str]],
    above: frozenset[str],
    title_share: float,
    weights: Mapping[str, float],
    question: Question,
) -> float:
    own = sum(weights[word] for word in sorted(held[at]))
    beside = frozenset[str]().union(*held[max(at - 1, 0) : at], *held[at + 1 : at + 2]) - held[at]
    near = sum(weights[word] for word in sorted(beside))
    over = sum(weights[word] for word in sorted(above - held[at]))
    score = own + _NEIGHBOUR_SHARE * near + title_share * over
    if pieces[at].kind == "heading" or len(pieces[at].text) < 6:
        return score * 0.5
    text = pieces[at].text
    fits = (question.wants_amount and _DIGIT.search(text)) or (question.wants_time and _DATE.search(text))
    return score * (1 + _KIND_BONUS) if fits else score


def _grown(
    best: int,
    pieces: Sequence[Sentence],
    held: Sequence[frozenset[str]],
    scores: Sequence[float],
    most_sentences: int,
) -> tuple[int, int]:
    """Take in neighbours that bring further words of the question, while the passage stays short."""
    first = last = best
    covered = held[best]
    while last - first + 1 < most_sentences:
        sides = [at for at in (first - 1, last + 1) if 0 <= at < len(pieces)]
        useful = [at for at in sides if held[at] - covered and scores[at] > scores[best] / 3]
        fitting = [at for at in useful if _length(pieces, min(first, at), max(last, at)) <= PASSAGE_LIMIT]
        if not fitting:
            break
        at = max(fitting, key=lambda at: (scores[at], -at))
        first, last = min(first, at), max(last, at)
        covered |= held[at]
    return first, last


def _length(pieces: Sequence[Sentence], first: int, last: int) -> int:
    return sum(len(piece.text) for piece in pieces[first : last + 1])
