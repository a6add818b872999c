"""The pieces of a leaf, each with what stands above it and so says what it is about."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass

from corpus2skill.adapters.offline.kana_words import hidden_words
from corpus2skill.adapters.offline.sentences import Sentence, sentences
from corpus2skill.adapters.offline.words import fold, index_words

_TITLE_SHARE = 0.8
"""What a word of the question is worth that stands above a sentence and not in it."""
_ANSWER_SHARE = 0.9
"""The same below a question, which it answers, and below the header of a table, which it belongs to."""
_FIRST_ANSWER_SHARE = 1.0
"""The same right below a question that asks for about the same: what answers it comes first."""
_SAME_FROM = 0.5
"""Share of its words that a question has in common with what is wanted, where it asks for about the same."""
_RANKS = "編章節款条項"
"""Signs of numbered headings, from the outermost."""
_RANK = re.compile(f"第[0-9０-９一二三四五六七八九十百]+([{_RANKS}])")
_INNERMOST = 7
_QUESTION_ENDS = ("?", "？")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacedPiece:
    """A piece of a leaf in its place."""

    sentence: Sentence
    text: str
    """Its text, folded."""
    words: frozenset[str]
    """The question's words in it."""
    above: tuple[str, ...]
    """Title of the leaf, headings, question and table header that it stands under, folded."""
    words_above: frozenset[str]
    share: float
    """What a word above is worth, 0 to 1."""
    section: int
    """Number of the stretch between two headings."""
    is_quotable: bool
    """False for what only says what follows: headings, questions, headers of tables."""
    header: int | None
    """Of a row: the place of its table's header."""


def placed_pieces(title: str, body: str, wanted: Container[str]) -> list[PlacedPiece]:
    """Return the pieces of `body` in order; of all words only those in `wanted` are looked at."""
    pieces = list(sentences(body))
    surroundings = _Surroundings(title)
    placed: list[PlacedPiece] = []
    for at, piece in enumerate(pieces):
        is_quotable = surroundings.meet(at, pieces)
        above = surroundings.texts(at, pieces)
        placed.append(
            PlacedPiece(
                sentence=piece,
                text=fold(piece.text),
                words=_found(piece.text, wanted),
                above=tuple(map(fold, above)),
                words_above=_found("\n".join(above), wanted),
                share=_share(piece, above, wanted, comes_first=bool(placed) and not placed[-1].is_quotable),
                section=surroundings.section,
                is_quotable=is_quotable,
                header=surroundings.header if piece.kind == "row" else None,
            )
        )
    return placed


class _Surroundings:
    """What was met on the way down a leaf and still holds."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.headings: dict[int, str] = {}
        self.question = ""
        self.header: int | None = None
        self.section = 0

    def meet(self, at: int, pieces: Sequence[Sentence]) -> bool:
        """Take in the piece at `at`. False where it only says what follows."""
        piece = pieces[at]
        follows = pieces[at + 1].kind if at + 1 < len(pieces) else None
        if piece.kind != "row":
            self.header = None
        if piece.kind == "heading":
            level = _level(piece)
            self.headings = {above: text for above, text in self.headings.items() if above < level}
            self.headings[level] = piece.text
            self.question = ""
            self.section += 1
            return False
        if follows is not None and piece.text.endswith(_QUESTION_ENDS):
            self.question = piece.text
            return False
        if piece.kind == "row" and self.header is None and follows == "row":
            self.header = at
            return False
        return True

    def texts(self, at: int, pieces: Sequence[Sentence]) -> list[str]:
        """What stands above the piece at `at`, the outermost first."""
        header = pieces[self.header].text if self.header is not None and self.header != at else ""
        texts = (self.title, *self.headings.values(), self.question, header)
        return [text for text in texts if text]


def _level(heading: Sentence) -> int:
    rank = _RANK.match(heading.text)
    return heading.level or (_RANKS.index(rank[1]) + 1 if rank else _INNERMOST)


def _share(piece: Sentence, above: Sequence[str], wanted: Container[str], *, comes_first: bool) -> float:
    if piece.kind == "row":
        return _ANSWER_SHARE
    if not above[-1].endswith(_QUESTION_ENDS) or not _asks_the_same(above[-1], wanted):
        return _TITLE_SHARE
    return _FIRST_ANSWER_SHARE if comes_first else _ANSWER_SHARE


def _asks_the_same(question: str, wanted: Container[str]) -> bool:
    words = set(index_words(question))
    return sum(word in wanted for word in words) >= len(words) * _SAME_FROM


def _found(text: str, wanted: Container[str]) -> frozenset[str]:
    return frozenset(word for word in (*index_words(text), *hidden_words(text)) if word in wanted)
