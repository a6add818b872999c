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
    vectors = np.zeros((len(words), width), dtype=np.float32)
    for row, counted in enumerate(words):
        folded = [0] * width
        for word, count in counted.items():
            if having[word] > 1:
                code = zlib.crc32(word.encode("utf-8"))
                value = count.bit_length() * _rarity(word, having[word], len(words))
                folded[code % width] += value if code & 0x100000 else -value
        length = math.isqrt(sum(value * value for value in folded)) or 1
        vectors[row] = [value * LENGTH // length for value in folded]
    return vectors


def _rarity(word: str, having: int, of: int) -> int:
    steps = (of**_FINENESS // having**_FINENESS).bit_length()
    return steps if is_single_kanji(word) else 2 * steps
