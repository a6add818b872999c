"""The summary of a chunk: the sentences of it that carry most."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from corpus2skill.adapters.offline.sentences import Sentence, cells, joint, parted
from corpus2skill.adapters.offline.words import index_words
from corpus2skill.domain.chunk import SUMMARY_LIMIT, Chunk
from corpus2skill.domain.language import detect_language
from corpus2skill.domain.shortening import one_line, shortened
from corpus2skill.messages import message

_SHORTEST = 10
"""Half widths of a sentence that can carry something."""
_DANGLING = re.compile(
    "(?:しかし|また|なお|さらに|そのため|このため|これ|それ|その|この|詳細は|詳しくは)"
    "|(?:However|Also|For (?:more|details|further|example)|To learn|See|These|This|It|They)\\b"
)
"""How a sentence begins that leans on the one before it, or only refers elsewhere."""
_ENDED = re.compile(r"[。．！？.!?؟।:：；;](?:[」』）)\]】\"'”’]*)$")
_JOINTS = 4
"""Characters that the joints on both sides of a further sentence can take."""
_CANDIDATES = 40
"""Sentences of a chunk that are weighed; the rest is further down than a reader of a summary expects."""


def summary_of(chunk: Chunk, pieces: Sequence[Sentence]) -> str:
    """Return the summary of `chunk`, whose text is `pieces`: one line, 1 to 160 characters."""
    if chunk.is_choices_only:
        return _of_choices(chunk, pieces)
    told = _told(pieces)
    if not told:
        text = one_line(chunk.text) or message(detect_language(chunk.text), "offline.no_words")
        return shortened(text, SUMMARY_LIMIT)
    header = cells(chunk.table_header) if chunk.table_header else ""
    lead = f"{header}: {told[0].text}" if header and told[0].kind == "row" else told[0].text
    return shortened(_filled(lead, told) if len(lead) < SUMMARY_LIMIT else lead, SUMMARY_LIMIT)


def _of_choices(chunk: Chunk, pieces: Sequence[Sentence]) -> str:
    """Say that there are only choices, then name them."""
    words = message(detect_language(chunk.text), "offline.choices_only")
    named = " / ".join(piece.text for piece in pieces if piece.text)
    return shortened(f"{words} {named}".strip(), SUMMARY_LIMIT)


def _told(pieces: Sequence[Sentence]) -> list[Sentence]:
    """The pieces that say something: prose, list lines and rows; headings or code where there is nothing else."""
    for kinds in (("sentence", "item", "row"), ("heading",), ("code",)):
        told = [piece for piece in pieces if piece.kind in kinds and any(map(str.isalnum, piece.text))]
        if told:
            lead = next((at for at, piece in enumerate(told) if _breadth(piece.text) >= _SHORTEST), 0)
            return told[lead : lead + _CANDIDATES]
    return []


def _filled(lead: str, told: Sequence[Sentence]) -> str:
    """Add to the lead the sentences that carry most, as many as there is room for, in the order of the text."""
    room = SUMMARY_LIMIT - len(lead)
    short = [at for at in range(1, len(told)) if len(told[at].text) < room]
    held = {at: frozenset(index_words(told[at].text)) for at in short}
    common = Counter(word for words in held.values() for word in words)
    kept = {0: replace(told[0], text=lead)}
    covered = frozenset(index_words(lead)) if short else frozenset[str]()
    while True:
        left = SUMMARY_LIMIT - len(_together(kept)) - _JOINTS
        fitting = [at for at in short if at not in kept and len(told[at].text) <= left]
        value = {at: _carries(told[at], held[at] - covered, common) * 100 // (8 + at) for at in fitting}
        best = max(fitting, key=lambda at: (value[at], -at), default=0)
        if not value.get(best):
            return _together(kept)
        kept[best] = told[best]
        covered |= held[best]


def _together(kept: Mapping[int, Sentence]) -> str:
    """Join sentences as they were; what is no whole sentence, such as a row, is parted from what follows."""
    text = ""
    for _, piece in sorted(kept.items(), key=lambda at: at[0]):
        text += (joint if _is_ended(text) else parted)(text, piece.text) + piece.text
    return text


def _is_ended(text: str) -> bool:
    return bool(_ENDED.search(text))


def _carries(piece: Sentence, words: frozenset[str], common: Counter[str]) -> int:
    """What a sentence adds: its new words, those that the chunk repeats counted more; figures are facts."""
    if _breadth(piece.text) < _SHORTEST or piece.text.endswith((":", "：")):
        return 0
    weight = sum(2 + min(common[word], 4) for word in words) + (4 if any(map(str.isdigit, piece.text)) else 0)
    return weight // 2 if _DANGLING.match(piece.text) else weight


def _breadth(text: str) -> int:
    """Length in half widths: a kanji says about as much as two letters."""
    return len(text) + sum(letter > "\u2e7f" for letter in text)
