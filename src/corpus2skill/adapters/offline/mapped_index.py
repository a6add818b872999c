"""Reads the index of words. Its files are mapped, not loaded: opening costs the same for every tree."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from corpus2skill.adapters.offline.index_files import ARRAYS, FORMAT, HEADER_FILE, IndexHeader, word_hash
from corpus2skill.adapters.offline.kana_words import is_kana_word
from corpus2skill.adapters.offline.question import Question
from corpus2skill.adapters.offline.words import is_kanji_pair
from corpus2skill.errors import Damaged

_K1 = 1.2
_B = 0.75
_DOCUMENT_WEIGHT = 1.0
"""Of the whole document's score beside the leaf's own."""
_WORDS_TO_MEET = 16
"""A match is measured against so many of the question's heaviest words: no text meets all of a long one."""
_LEAVES_AT_LARGE = 100
"""Leaves without any of the words that a corpus is taken to lie among when a match is measured."""
_CHANCE = 0.03
"""What the best of e times as many leaves has more of a question by chance."""
_DEPTH_SHARE = 0.2
"""How far a match goes by how often a leaf has the words, not only by which."""
_BOTH_SIGNS = 0.3
"""Of a pair of kanji of which a leaf has both signs apart."""
_MATCHED = 3
"""The match of a question is that of the best among so many leaves."""

Floats = npt.NDArray[np.float64]
Numbers = npt.NDArray[np.uint32] | Floats


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedLeaf:
    """A leaf and how well it fits a question."""

    leaf: int
    path: str
    score: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The leaves that fit a question, best first."""

    leaves: tuple[RankedLeaf, ...]
    match: float
    """How much of the question one of the best leaves has, 0 to 1."""

    def fit(self) -> dict[str, float]:
        """Node path to how well its leaf fits, beside the best one: 0 to 1."""
        return {leaf.path: leaf.score / self.leaves[0].score for leaf in self.leaves}


class MappedIndex:
    """The index of one version, opened."""

    def __init__(self, folder: Path) -> None:
        """Map the files of `folder`.

        Raises:
            Damaged: a file is missing, has another size than the header says, or another format.
        """
        self._header = _read_header(folder)
        arrays = {name: _map(folder / name, kind) for name, kind in ARRAYS.items()}
        self._words: npt.NDArray[np.uint64] = arrays["words.u64"]
        self._starts = arrays["starts.u64"]
        self._posting_leaves = arrays["posting_leaves.u32"]
        self._posting_counts = arrays["posting_counts.u16"]
        self._lengths = arrays["leaf_lengths.u32"]
        self._documents = arrays["leaf_documents.u32"]
        self._path_starts = arrays["path_starts.u64"]
        self._paths = arrays["paths.u8"]
        self._folder = folder
        _check_sizes(folder, self._header, arrays)

    def path(self, leaf: int) -> str:
        """Return the node path of a leaf."""
        first, last = int(self._path_starts[leaf]), int(self._path_starts[leaf + 1])
        return self._paths[first:last].tobytes().decode("utf-8")

    def rarity(self, word: str) -> float:
        """Return how much `word` tells: its inverse document frequency among the leaves."""
        first, last = self._slice(word)
        return _idf(last - first, self._header.leaves)

    def has_all(self, leaf: int, words: Iterable[str]) -> bool:
        """True where each of `words` occurs in `leaf`."""
        return all(self._count(leaf, word) for word in words)

    def rank(self, question: Question, limit: int) -> Ranking:
        """Rank leaves by the question's words with their weights; at most `limit` of them.

        The score is the leaf's BM25 times the share of the question that it has, plus its document's BM25.

        Raises:
            Damaged: the files have their sizes and hold something else.
        """
        try:
            with np.errstate(all="ignore"):
                return self._rank(question, limit)
        except (ArithmeticError, IndexError, MemoryError, ValueError) as error:
            # Nothing was loaded that could be checked when the files were opened: nonsense shows here.
            raise Damaged("file_damaged", file=str(self._folder)) from error

    def _rank(self, question: Question, limit: int) -> Ranking:
        words = {word: weight for word, weight in question.words if self._is_told(word)}
        known = sum(weight * self.rarity(word) for word, weight in sorted(words.items()))
        if not known:
            return Ranking(leaves=(), match=0.0)
        own, shared, whole = self._scores(words)
        total = np.round(own * shared / known + _DOCUMENT_WEIGHT * whole[self._documents], 6)
        total[own <= 0] = 0.0
        best = _top(total, limit)
        leaves = tuple(RankedLeaf(leaf=leaf, path=self.path(leaf), score=float(total[leaf])) for leaf in best)
        return Ranking(leaves=leaves, match=self._best_match(best[:_MATCHED], question))

    def _is_told(self, word: str) -> bool:
        """False for a guess at a word in hiragana that no leaf has."""
        first, last = self._slice(word)
        return first < last or not is_kana_word(word)

    def _best_match(self, leaves: Sequence[int], question: Question) -> float:
        """The match of the best of `leaves`, less what the best of so many leaves has by chance."""
        weights = self._rarities_at_large(question.telling)
        match = max((self._match(leaf, weights) for leaf in leaves), default=0.0)
        if not match:
            return 0.0
        chance = _CHANCE * math.log(self._header.leaves / _LEAVES_AT_LARGE)
        return min(max(round(match - chance, 6), 0.0), 1.0)

    def _match(self, leaf: int, weights: Mapping[str, float]) -> float:
        """How much of the question a leaf has: the share of its words, less where they are only touched upon.

        Measured against the question's heaviest words. A word in hiragana is a guess: it counts where it
        is there. A pair of kanji counts in part where the leaf has both signs, as 育児休業 has 育休.
        """
        counts = {word: count for word in weights if (count := self._count(leaf, word))}
        halves = [word for word in weights if word not in counts and self._has_signs(leaf, word)]
        wanted = (weight for word, weight in weights.items() if word in counts or not is_kana_word(word))
        heaviest = sum(sorted(wanted, reverse=True)[:_WORDS_TO_MEET])
        if not counts or not heaviest:
            return 0.0
        relative = float(self._lengths[leaf]) * self._header.leaves / self._header.total_length
        half = _BOTH_SIGNS * sum(weights[word] for word in halves)
        share = half + sum(weights[word] for word in counts)
        depth = half / 2 + sum(weights[word] * _depth(count, relative) for word, count in counts.items())
        return min(share / heaviest, 1.0) ** (1 - _DEPTH_SHARE) * min(depth / heaviest, 1.0) ** _DEPTH_SHARE

    def _has_signs(self, leaf: int, word: str) -> bool:
        return is_kanji_pair(word) and self.has_all(leaf, word)

    def _rarities_at_large(self, weights: Iterable[tuple[str, float]]) -> dict[str, float]:
        """The weights times the rarities as in a larger corpus: in a small one they say little."""
        at_large = self._header.leaves + _LEAVES_AT_LARGE
        slices = {word: self._slice(word) for word, _ in weights}
        return {word: weight * _idf(slices[word][1] - slices[word][0], at_large) for word, weight in weights}

    def _scores(self, words: Mapping[str, float]) -> tuple[Floats, Floats, Floats]:
        """Per leaf its BM25 and the weight of the words it has; per document its BM25."""
        header = self._header
        own = np.zeros(header.leaves)
        shared = np.zeros(header.leaves)
        whole = np.zeros(header.documents)
        document_lengths = self._per_document(self._documents, self._lengths)
        for word in sorted(words):
            first, last = self._slice(word)
            if first == last:
                continue
            leaves = self._posting_leaves[first:last]
            counts = self._posting_counts[first:last].astype(np.float64)
            weight = words[word] * _idf(last - first, header.leaves)
            own[leaves] += weight * _saturated(
                counts, self._lengths[leaves], header.total_length / header.leaves
            )
            shared[leaves] += weight
            occurrences = self._per_document(self._documents[leaves], counts)
            having = np.nonzero(occurrences)[0]
            weight = words[word] * _idf(len(having), header.documents)
            mean = header.total_length / header.documents
            whole[having] += weight * _saturated(occurrences[having], document_lengths[having], mean)
        return own, shared, whole

    def _per_document(self, documents: npt.NDArray[np.uint32], values: Numbers) -> Floats:
        """Sum `values` by document.

        Raises:
            IndexError: there is no such document; counting up to it could take any amount of memory.
        """
        if len(documents) and int(documents.max()) >= self._header.documents:
            raise IndexError
        summed = np.bincount(documents, weights=values, minlength=self._header.documents)
        return summed.astype(np.float64)

    def _count(self, leaf: int, word: str) -> int:
        """How often `word` occurs in `leaf`."""
        first, last = self._slice(word)
        at = first + int(np.searchsorted(self._posting_leaves[first:last], leaf))
        return int(self._posting_counts[at]) if at < last and int(self._posting_leaves[at]) == leaf else 0

    def _slice(self, word: str) -> tuple[int, int]:
        """Where the postings of `word` begin and end; equal for an unknown word."""
        hashed = np.uint64(word_hash(word))
        at = int(np.searchsorted(self._words, hashed))
        if at == len(self._words) or self._words[at] != hashed:
            return 0, 0
        return int(self._starts[at]), int(self._starts[at + 1])


def _idf(having: int, of: int) -> float:
    return math.log(1 + (of - having + 0.5) / (having + 0.5))


def _saturated(counts: Floats, lengths: Numbers, mean_length: float) -> Floats:
    """BM25's part that grows ever less with each further occurrence, for many leaves."""
    return counts * (_K1 + 1) / (counts + _K1 * (1 - _B + _B * lengths / mean_length))


def _depth(count: int, relative_length: float) -> float:
    """How far a leaf is about a word that it has `count` times, 0 to 1."""
    return count / (count + _K1 / 2 * (1 - _B + _B * relative_length))


def _top(scores: Floats, limit: int) -> list[int]:
    """The places of the highest scores, best first, the earlier one of two equal ones first; none at 0."""
    kept = np.nonzero(scores > 0)[0]
    if len(kept) > limit:
        least = np.partition(scores[kept], len(kept) - limit)[len(kept) - limit]
        kept = kept[scores[kept] >= least]
    order = np.lexsort((kept, -scores[kept]))
    return [int(leaf) for leaf in kept[order][:limit]]


def _read_header(folder: Path) -> IndexHeader:
    file = folder / HEADER_FILE
    try:
        values: dict[str, int] = json.loads(file.read_text(encoding="utf-8"))
        if values.pop("format") != FORMAT:
            raise Damaged("file_damaged", file=str(file))
        return IndexHeader(**values)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise Damaged("file_damaged", file=str(file)) from error


def _map(file: Path, kind: str) -> np.ndarray:
    try:
        if file.stat().st_size == 0:
            return np.zeros(0, dtype=kind)
        return np.memmap(file, dtype=kind, mode="r")
    except (OSError, ValueError) as error:
        raise Damaged("file_damaged", file=str(file)) from error


def _check_sizes(folder: Path, header: IndexHeader, arrays: Mapping[str, np.ndarray]) -> None:
    wanted = {
        "words.u64": header.words,
        "starts.u64": header.words + 1,
        "posting_leaves.u32": header.postings,
        "posting_counts.u16": header.postings,
        "leaf_lengths.u32": header.leaves,
        "leaf_documents.u32": header.leaves,
        "path_starts.u64": header.leaves + 1,
    }
    for name, length in wanted.items():
        if len(arrays[name]) != length:
            raise Damaged("file_damaged", file=str(folder / name))
