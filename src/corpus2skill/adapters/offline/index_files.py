"""The files of `lexical/`: one small header and raw little-endian arrays that can be mapped into memory.

A posting says how often a word occurs in a leaf. Postings lie sorted by the word's hash, then by leaf, so
that those of one word are one slice; `starts` has where each slice begins. Leaves have the numbers that they
had in the order in which they were handed in.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

FORMAT = 1
HEADER_FILE = "index.json"

ARRAYS: dict[str, str] = {
    "words.u64": "<u8",
    "starts.u64": "<u8",
    "posting_leaves.u32": "<u4",
    "posting_counts.u16": "<u2",
    "leaf_lengths.u32": "<u4",
    "leaf_documents.u32": "<u4",
    "path_starts.u64": "<u8",
    "paths.u8": "<u1",
}
"""File name to numpy type. `words`: sorted hashes. `leaf_documents`: the number of each leaf's document."""

COUNT_LIMIT = 65_535
"""A word that occurs oftener in one leaf is counted so often."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexHeader:
    """What is in `index.json`."""

    leaves: int
    documents: int
    words: int
    postings: int
    total_length: int
    """Index words of all leaves together."""


def word_hash(word: str) -> int:
    """Return 64 bits that stand for `word`, the same on every machine."""
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8"), digest_size=8).digest(), "little")
