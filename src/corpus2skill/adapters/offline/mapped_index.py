"""Reads the index of words. Its files are mapped, not loaded: opening costs the same for every tree."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from corpus2skill.adapters.offline.index_files import ARRAYS, FORMAT, HEADER_FILE, IndexHeader, word_hash
from corpus2skill.errors import Damaged

_K1 = 1.2
_B = 0.75
_DOCUMENT_WEIGHT = 1.0
"""Of the whole document's score beside the leaf's own."""
_WORDS_TO_MEET = 12
"""A match is measured against so many of the question's heaviest words: no text meets all of a long one."""
_LEAVES_AT_LARGE = 100
"""Leaves without any of the words that a corpus is taken to lie among when a match is measured."""
_HAS_ALL = 0.6
"""The least match of a leaf that has every word of a question: a long leaf has each of them too seldom to
show. It lies in the band that counts as a weak match."""
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

    def rank(self, words: Mapping[str, float], limit: int) -> Ranking:
        """Rank leaves by the question's words with their weights; at most `limit` of them.

        The score is the leaf's BM25 times the share of the question that it has, plus its document's BM25.

        Raises:
            Damaged: the files have their sizes and hold something else.
        """
        try:
            with np.errstate(all="ignore"):
                return self._rank(words, limit)
        except (ArithmeticError, IndexError, MemoryError, ValueError) as error:
            # Nothing was loaded that could be checked when the files were opened: nonsense shows here.
            raise Damaged("file_damaged", file=str(self._folder)) from error

    def _rank(self, words: Mapping[str, float], limit: int) -> Ranking:
        known = sum(weight * self.rarity(word) for word, weight in sorted(words.items()))
        if not known:
            return Ranking(leaves=(), match=0.0)
        own, shared, whole = self._scores(words)
        total = np.round(own * shared / known + _DOCUMENT_WEIGHT * whole[self._documents], 6)
        total[own <= 0] = 0.0
        best = _top(total, limit)
        leaves = tuple(RankedLeaf(leaf=leaf, path=self.path(leaf), score=float(total[leaf])) for leaf in best)
        return Ranking(
            leaves=leaves, match=max((self._match(leaf, words) for leaf in best[:_MATCHED]), default=0.0)
        )

    def _match(self, leaf: int, words: Mapping[str, float]) -> float:
        """How much of the question a leaf has: by its BM25 and by the words it has, their geometric mean.

        Both are measured against the question's heaviest words, with rarities as in a larger corpus: in
        a small one a word that is in no leaf would else outweigh all that are.
        """
        weights = {word: weight * self._rarity_at_large(word) for word, weight in sorted(words.items())}
        heaviest = sum(sorted(weights.values(), reverse=True)[:_WORDS_TO_MEET])
        counts = {word: count for word in weights if (count := self._count(leaf, word))}
        mean = self._header.total_length / self._header.leaves
        length = float(self._lengths[leaf])
        share = sum(weights[word] for word in counts) / heaviest
        score = sum(weights[word] * _saturation(count, length, mean) for word, count in counts.items())
        match = min(round(math.sqrt(share * score / (heaviest * (_K1 + 1))), 6), 1.0)
        return max(match, _HAS_ALL) if len(counts) == len(weights) > 1 else match

    def _rarity_at_large(self, word: str) -> float:
        first, last = self._slice(word)
        return _idf(last - first, self._header.leaves + _LEAVES_AT_LARGE)

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
        """Sum `values` by document."""
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


def _saturation(count: int, length: float, mean_length: float) -> float:
    """The same for one leaf."""
    return count * (_K1 + 1) / (count + _K1 * (1 - _B + _B * length / mean_length))


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
