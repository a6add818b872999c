"""Branches as vectors of their words, in whole numbers: exact on every machine and for any number of threads."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from corpus2skill.adapters.offline.words import is_single_kanji

LENGTH = 1024
"""Of every vector. Sums of products of two are below 2**24: floating point holds them without rounding."""
_FINENESS = 4
"""Steps of a word's weight for each time that half as many branches have it."""

Vectors = npt.NDArray[np.float32]


def word_vectors(words: Sequence[Counter[str]], width: int) -> Vectors:
    """Return one vector of whole numbers for each of `words`: TF-IDF, folded by hash to `width` numbers.

    A word that only one of them has connects nothing and is left out.
    """
    having = Counter(word for counted in words for word in counted)
    shares = {word: _Share(word, count, len(words)) for word, count in having.items() if count > 1}
    vectors = np.zeros((len(words), width), dtype=np.float32)
    for row, counted in enumerate(words):
        shared = [(shares[word], count) for word, count in counted.items() if word in shares]
        values = [share.signed_rarity * count.bit_length() for share, count in shared]
        places = np.array([share.code % width for share, _ in shared], dtype=np.int64)
        folded = np.bincount(places, weights=values, minlength=width)
        length = math.isqrt(int(folded @ folded)) or 1
        vectors[row] = np.floor(folded * LENGTH / length)
    return vectors


class _Share:
    """What a word adds to the vector of a branch that has it, and where."""

    __slots__ = ("code", "signed_rarity")

    def __init__(self, word: str, having: int, of: int) -> None:
        self.code = zlib.crc32(word.encode("utf-8"))
        steps = (of**_FINENESS // having**_FINENESS).bit_length()
        rarity = steps if is_single_kanji(word) else 2 * steps
        self.signed_rarity = rarity if self.code & 0x100000 else -rarity
