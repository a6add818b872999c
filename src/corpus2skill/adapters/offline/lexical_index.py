"""Writes the index of words beside the tree."""

from __future__ import annotations

import json
from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath

import numpy as np

from corpus2skill.adapters.offline.index_files import (
    ARRAYS,
    COUNT_LIMIT,
    FORMAT,
    HEADER_FILE,
    IndexHeader,
    word_hash,
)
from corpus2skill.adapters.offline.kana_words import hidden_words_of_folded
from corpus2skill.adapters.offline.words import fold_width, words_of_folded
from corpus2skill.ports.lexical_index import IndexedLeaf


class OfflineLexicalIndex:
    """A `LexicalIndexWriter` for the offline navigator."""

    def __init__(self) -> None:
        self._vocabulary = _Vocabulary()
        self._prepared: dict[str, _Counted] = {}

    def prepare(self, text: str) -> None:
        """Count the words of a text ahead of `write`."""
        if text not in self._prepared:
            self._prepared[text] = self._vocabulary.counted(text)

    def write(self, leaves: Sequence[IndexedLeaf]) -> Iterator[tuple[str, bytes]]:
        """Yield `(file name, content)`; the same leaves in the same order give the same bytes."""
        counts = _Counts(self._vocabulary)
        for leaf in leaves:
            counts.add(leaf, self._prepared.pop(leaf.text, None))
        yield HEADER_FILE, _header_text(counts)
        yield from counts.posting_files()
        yield _file("leaf_lengths.u32", np.asarray(counts.lengths))
        yield _file("leaf_documents.u32", np.asarray(counts.documents))
        yield from _path_files(leaves)


@dataclass(frozen=True, slots=True)
class _Counted:
    """How often each word occurs in one text, and how many words it has."""

    words: array[int]
    counts: array[int]
    length: int


class _Vocabulary:
    """Numbers for words, in the order of their coming: nothing that is written depends on it."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def counted(self, text: str) -> _Counted:
        folded = fold_width(text)
        words = words_of_folded(folded)
        counted = Counter(words + hidden_words_of_folded(folded.lower()))
        numbers = array("I", (self.numbers.setdefault(word, len(self.numbers)) for word in counted))
        return _Counted(numbers, array("H", (min(n, COUNT_LIMIT) for n in counted.values())), len(words))


class _Counts:
    """How often each word occurs in each leaf, in compact arrays while they grow."""

    def __init__(self, vocabulary: _Vocabulary) -> None:
        self.vocabulary = vocabulary
        self.document_numbers: dict[str, int] = {}
        self.words = array("I")
        self.counts = array("H")
        self.distinct = array("I")
        self.lengths = array("I")
        self.documents = array("I")

    def add(self, leaf: IndexedLeaf, text: _Counted | None) -> None:
        """Take in a leaf, with what is counted of its text already. No word reaches over a line's end."""
        names = leaf.headings or (PurePosixPath(leaf.source).stem,)
        head = self.vocabulary.counted("\n".join((leaf.title, *names)))
        body = text or self.vocabulary.counted(leaf.text)
        counted = dict(zip(body.words, body.counts, strict=True))
        for word, count in zip(head.words, head.counts, strict=True):
            counted[word] = counted.get(word, 0) + count
        self.words.extend(counted)
        self.counts.extend(min(count, COUNT_LIMIT) for count in counted.values())
        self.distinct.append(len(counted))
        self.lengths.append(max(head.length + body.length, 1))
        self.documents.append(self.document_numbers.setdefault(leaf.source, len(self.document_numbers)))

    def posting_files(self) -> Iterator[tuple[str, bytes]]:
        """Sort the postings by word hash; leaves stay in order because the sort is stable."""
        numbers = self.vocabulary.numbers
        hashes = np.fromiter(map(word_hash, numbers), dtype=np.uint64, count=len(numbers))
        sorted_hashes, rank = np.unique(hashes, return_inverse=True)
        yield _file("words.u64", sorted_hashes)
        words = rank.astype(np.uint32)[np.asarray(self.words, dtype=np.uint32)]
        starts = np.zeros(len(sorted_hashes) + 1, dtype=np.uint64)
        np.cumsum(np.bincount(words, minlength=len(sorted_hashes)), out=starts[1:])
        yield _file("starts.u64", starts)
        # Each of these arrays is as long as the index: none is kept longer, or wider, than it is needed.
        del self.words
        order = np.argsort(words, kind="stable").astype(np.uint32)
        del words
        leaves = np.repeat(np.arange(len(self.distinct), dtype=np.uint32), np.asarray(self.distinct))
        leaves = leaves[order]
        yield _file("posting_leaves.u32", leaves)
        del leaves
        yield _file("posting_counts.u16", np.asarray(self.counts)[order])


def _header_text(counts: _Counts) -> bytes:
    header = IndexHeader(
        leaves=len(counts.lengths),
        documents=len(counts.document_numbers),
        words=len(set(map(word_hash, counts.vocabulary.numbers))),
        postings=len(counts.words),
        total_length=sum(counts.lengths),
    )
    return (json.dumps({"format": FORMAT} | asdict(header), sort_keys=True, indent=1) + "\n").encode("utf-8")


def _path_files(leaves: Sequence[IndexedLeaf]) -> Iterator[tuple[str, bytes]]:
    paths = [leaf.path.encode("utf-8") for leaf in leaves]
    starts = np.zeros(len(paths) + 1, dtype=np.uint64)
    np.cumsum(np.fromiter(map(len, paths), dtype=np.uint64, count=len(paths)), out=starts[1:])
    yield _file("path_starts.u64", starts)
    yield "paths.u8", b"".join(paths)


def _file(name: str, values: np.ndarray) -> tuple[str, bytes]:
    return name, values.astype(ARRAYS[name], copy=False).tobytes()
