"""Which sentences of the leaves read answer the question best."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from corpus2skill.adapters.offline.placed_pieces import PlacedPiece, placed_pieces
from corpus2skill.adapters.offline.question import Question
from corpus2skill.adapters.offline.sentences import joint
from corpus2skill.adapters.offline.subjects import Subjects
from corpus2skill.adapters.offline.walk import ReadLeaf
from corpus2skill.domain.shortening import shortened

PASSAGE_LIMIT = 220
"""Characters of one quotation."""
_NEIGHBOUR_SHARE = 0.3
"""What a word of the question is worth that stands in a neighbouring sentence only."""
_LEAF_SHARE = 0.3
"""How far a passage is judged by its whole leaf."""
_KIND_BONUS = 0.15
_MONEY_BONUS = 0.5
_ROWS_TIE_FROM = 0.95
"""Rows of a table that score at least this share of the best row are quoted with it."""
_EXAMPLE_SHARE = 0.85
"""What is left for an example: the rule that it shows stands elsewhere."""
_EXAMPLE = re.compile(r"(?:たとえば|例えば)|for (?:example|instance)\b|e\.g\.")
_SHORTEST = 6
_DIGIT = re.compile(r"[0-9０-９一二三四五六七八九十百千万]")
_DATE = re.compile(
    r"\d+\s*(?:年|月|日|時|分|世紀)|(?:19|20)\d\d|[月火水木金土日]曜|January|February|March|April|May|June|July|August|September|October|November|December"
)
_ASKS_FOR_MONEY = re.compile(
    r"いくら|(?:何|なん)(?:円|ドル)|how much|\bwhat\b.*\b(?:price|cost|fee)s?\b"
    r"|(?:料金|料|金額|費用|価格|値段|代金|会費)(?:は|って|を)?(?:どのくらい|どれくらい|何|なん)?(?:です|でしょう)?か?"
    r"(?:教え\S*|知りたい\S*)?[。?？\s]*$",
    re.IGNORECASE,
)
_MONEY = re.compile(
    r"[\d万億千百]\s*(?:円|ドル|ユーロ|ポンド|ウォン|yen|dollars?|euros?|usd|jpy|eur)|[¥$€£]\s*\d"
)
_LEADS_IN = re.compile(r"(?:[:：]|(?:次|以下|下記)の\S{0,12}[。:：])$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """Sentences that stand together in one leaf, or lines of a list or table."""

    doc_id: str
    text: str
    """As it stands in the leaf; what are several lines there are several here."""
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
    placed = [(leaf, placed_pieces(leaf.title, leaf.body, weights)) for leaf in leaves]
    read = [(leaf, pieces) for leaf, pieces in placed if pieces]
    subjects = Subjects(question, weights, [pieces for _, pieces in read])
    passages = [
        _best_of(
            leaf,
            pieces,
            _scores(pieces, question, weights, subjects, fit.get(leaf.path, 0.0)),
            most_sentences,
            takes_all=subjects.is_reference_alone,
        )
        for leaf, pieces in read
    ]
    return sorted(passages, key=lambda passage: -passage.score)


def _best_of(
    leaf: ReadLeaf,
    pieces: Sequence[PlacedPiece],
    scores: Sequence[float],
    most: int,
    *,
    takes_all: bool,
) -> Passage:
    quotable = [at for at, piece in enumerate(pieces) if piece.is_quotable] or range(len(pieces))
    best = max(quotable, key=lambda at: (round(scores[at], 6), -at))
    if pieces[best].sentence.kind == "row":
        text = "\n".join(_lines(pieces, _rows(best, pieces, scores, most)))
    elif _LEADS_IN.search(pieces[best].sentence.text):
        text = "\n".join(_lines(pieces, _list_below(best, pieces)))
    else:
        text = _together(pieces, *_grown(best, pieces, scores, most, takes_all=takes_all))
    return Passage(doc_id=leaf.doc_id, text=shortened(text, PASSAGE_LIMIT), score=round(scores[best], 6))


def _scores(
    pieces: Sequence[PlacedPiece],
    question: Question,
    weights: Mapping[str, float],
    subjects: Subjects,
    fit: float,
) -> list[float]:
    total = sum(weights.values()) or 1.0
    sections: dict[int, str] = {}
    for piece in pieces:
        sections[piece.section] = sections.get(piece.section, "") + piece.text + "\n"
    asks_for_money = bool(_ASKS_FOR_MONEY.search(question.text))
    scores: list[float] = []
    for at, piece in enumerate(pieces):
        covered = _covered(at, pieces, weights) / total
        if subjects.is_reference_alone and subjects.is_referred_to(piece):
            covered = 1.0
        score = covered * subjects.share(piece, sections[piece.section])
        score *= 1 - _LEAF_SHARE + _LEAF_SHARE * fit
        score *= _EXAMPLE_SHARE if _EXAMPLE.match(piece.text) else 1.0
        scores.append(score * _fits_kind(piece, question, asks_for_money=asks_for_money))
    return scores


def _covered(at: int, pieces: Sequence[PlacedPiece], weights: Mapping[str, float]) -> float:
    """The weight of the question's words in a piece, above it and beside it; each counts where it is worth most."""
    piece = pieces[at]
    above = piece.words_above - piece.words
    neighbours = (*pieces[max(at - 1, 0) : at], *pieces[at + 1 : at + 2])
    beside = frozenset[str]().union(*(neighbour.words for neighbour in neighbours)) - piece.words - above
    own, over, near = (sum(weights[word] for word in sorted(words)) for words in (piece.words, above, beside))
    return own + piece.share * over + _NEIGHBOUR_SHARE * near


def _fits_kind(piece: PlacedPiece, question: Question, *, asks_for_money: bool) -> float:
    if piece.sentence.kind == "heading" or len(piece.text) < _SHORTEST:
        return 0.5
    if asks_for_money and _MONEY.search(piece.text):
        return 1 + _MONEY_BONUS
    fits = (question.wants_amount and _DIGIT.search(piece.text)) or (
        question.wants_time and _DATE.search(piece.text)
    )
    return 1 + _KIND_BONUS if fits else 1.0


def _rows(best: int, pieces: Sequence[PlacedPiece], scores: Sequence[float], most: int) -> list[int]:
    """The header of a table and the rows that fit best, as many as there is room for."""
    header = pieces[best].header
    if header is None or header == best:
        return [best]
    table = [at for at, piece in enumerate(pieces) if piece.header == header and at != header]
    fitting = [
        at
        for at in table
        if scores[at] >= scores[best] * _ROWS_TIE_FROM and pieces[at].words >= pieces[best].words
    ]
    kept = [header, best]
    for at in fitting[: 2 * most]:
        if at != best and _length(pieces, [*kept, at]) <= PASSAGE_LIMIT:
            kept.append(at)
    return sorted(kept)


def _list_below(best: int, pieces: Sequence[PlacedPiece]) -> list[int]:
    """A sentence that leads in a list or table, and the lines of it that there is room for."""
    kept = [best]
    for at in range(best + 1, len(pieces)):
        is_line = pieces[at].sentence.kind in ("item", "row")
        if not is_line or _length(pieces, [*kept, at]) > PASSAGE_LIMIT:
            break
        kept.append(at)
    return kept


def _grown(
    best: int, pieces: Sequence[PlacedPiece], scores: Sequence[float], most: int, *, takes_all: bool
) -> tuple[int, int]:
    """Take in sentences of the same paragraph that bring further words of the question, or all that follow."""
    first = last = best
    covered = pieces[best].words
    while last - first + 1 < most:
        sides = [
            at
            for at in (first - 1, last + 1)
            if 0 <= at < len(pieces) and _is_beside(pieces[at], pieces[best])
        ]
        useful = [at for at in sides if pieces[at].words - covered and scores[at] > scores[best] / 3]
        if takes_all:
            useful = [at for at in sides if at > last]
        fitting = [
            at for at in useful if _length(pieces, range(min(first, at), max(last, at) + 1)) <= PASSAGE_LIMIT
        ]
        if not fitting:
            break
        at = max(fitting, key=lambda at: (scores[at], -at))
        first, last = min(first, at), max(last, at)
        covered |= pieces[at].words
    return first, last


def _is_beside(piece: PlacedPiece, other: PlacedPiece) -> bool:
    return piece.is_quotable and piece.sentence.block == other.sentence.block


def _lines(pieces: Sequence[PlacedPiece], kept: Sequence[int]) -> list[str]:
    return [pieces[at].sentence.text for at in kept]


def _together(pieces: Sequence[PlacedPiece], first: int, last: int) -> str:
    text = ""
    for piece in pieces[first : last + 1]:
        text += joint(text, piece.sentence.text) + piece.sentence.text
    return text


def _length(pieces: Sequence[PlacedPiece], kept: Sequence[int]) -> int:
    return sum(len(pieces[at].sentence.text) + 1 for at in kept)
