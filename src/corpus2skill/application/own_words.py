"""Words that stand in some documents and in no other: how what was taken from them is known elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from corpus2skill.domain.run import RunRecord

_WORD = re.compile(r"[A-Za-z0-9_]{3,}|[\u30a1-\u30fa\u30fc]{3,}|[\u3400-\u9fff\u3005]{2,}")
"""Runs of one script, long enough to mean something."""


def own_words(texts: Iterable[str], others: Iterable[str]) -> frozenset[str]:
    """Return the words of `texts` that none of `others` has."""
    own = {word for text in texts for word in _WORD.findall(text)}
    for other in others:
        own -= set(_WORD.findall(other))
    return frozenset(own)


def says_any(run: RunRecord, words: frozenset[str]) -> bool:
    """True where what a record says, or what the run was shown of branches, has one of `words`."""
    return any(not words.isdisjoint(_WORD.findall(text)) for text in _said(run))


def _said(run: RunRecord) -> Iterator[str]:
    yield from (run.question, run.answer)
    for visit in run.visits:
        yield from (visit.title, visit.reason)
        for child in visit.offered:
            yield from (child.title, child.summary)
