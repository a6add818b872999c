"""What each word of a question tells about a text: how much its presence or absence says that it answers."""

from __future__ import annotations

import re
from collections.abc import Iterator

from corpus2skill.adapters.offline.kana_words import kana_words
from corpus2skill.adapters.offline.light_words import LIGHT_KANJI, LIGHT_KATAKANA, LIGHT_LATIN
from corpus2skill.adapters.offline.words import HAN, HIRAGANA, fold, index_words, pairs

_LIGHT_SHARE = 0.15
_LIGHT_KANJI_SHARE = 0.35
"""Of a general word in Latin letters or in kanji: people ask with other verbs and measures than texts have."""
_SINGLE_SHARE = 0.2
"""Of a single kanji beside the pairs that it is part of."""
_VERB_WEIGHT = 0.4
"""Of a lone kanji with an ending: verbs differ between questions and texts more than nouns do."""
_GUESS_WEIGHT = 0.5
"""Of what may be a word in hiragana."""
_REFERENCE_WEIGHT = 2.0
"""Of an article named by its number."""
_RUN = re.compile(f"[{HAN}]+")
_IS_NOUN = re.compile(f"[をはがのにでともへや]|から|まで|より|って|だけ|$|[^{HIRAGANA}]")
"""What follows a lone kanji that is a word of its own, as in 傘を."""


def telling_weights(text: str) -> dict[str, float]:
    """Return the index words of `text` with their weights.

    A long run of kanji counts more than a short one, but not once for each of its pairs.
    """
    folded = fold(text)
    weights = dict.fromkeys(kana_words(folded), _GUESS_WEIGHT)
    for word in index_words(folded):
        if not _RUN.match(word) or len(word) > 2:
            weights[word] = _weight(word)
    for run in _RUN.finditer(folded):
        for word, weight in _of_run(run[0], folded[run.end() : run.end() + 2]):
            weights[word] = max(weights.get(word, 0.0), weight)
    return weights


def _weight(word: str) -> float:
    if word in LIGHT_LATIN or word in LIGHT_KATAKANA:
        return _LIGHT_SHARE
    return _REFERENCE_WEIGHT if word.startswith("第") else 1.0


def _of_run(run: str, following: str) -> Iterator[tuple[str, float]]:
    """The singles and pairs of a run of kanji."""
    if len(run) == 1:
        weight = 1.0 if _IS_NOUN.match(following) else _VERB_WEIGHT
        yield run, _LIGHT_KANJI_SHARE if run in LIGHT_KANJI else weight
        return
    each = (len(run) - 1) ** -0.5
    shares = [_LIGHT_KANJI_SHARE if pair in LIGHT_KANJI else 1.0 for pair in pairs(run)]
    for pair, share in zip(pairs(run), shares, strict=True):
        yield pair, each * share
    for at, single in enumerate(run):
        yield single, _SINGLE_SHARE * each * min(shares[max(at - 1, 0) : at + 1])
