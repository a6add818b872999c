"""Where a sentence that is too long to be spoken in one piece is cut: where it hurts least."""

from __future__ import annotations

import re
from itertools import pairwise

from corpus2skill.navigator.voice.sentence_end import OPENING, Nesting

LOOK_AHEAD = 4
"""Characters beyond the limit that tell whether the limit lies within a number."""
_SHORT = 20
"""Characters under which a piece is cut only where there is no better place."""
_COMMAS = "、，,；;"
_NUMBER = re.compile(
    r"(?:[第約¥￥$]?\d+(?:[.,:/．，：・-]\d+)*(?:[%％円条項号章節年月日時分秒人回個件台つ]|か月|[A-Za-z]{1,3})?)+"
)
_WORD = re.compile(r"[A-Za-z0-9_]+|[ァ-ヺー]+")
_AFTER_KANA = re.compile(r"(?<=[ぁ-ゖ])(?=[^ぁ-ゖー])")
_NOT_FIRST = '、。，．,.！？!?ー々ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ」』）)］]】〉》〕”"'


def early_cut(text: str, least: int, limit: int) -> int | None:
    """Return the end of the first comma from `least` characters on, outside quotes, None where none has come."""
    for position, depth in _depths(text, limit):
        if depth == 0 and position >= least and _is_comma(text, position):
            return position
    return None


def forced_cut(text: str, limit: int) -> int:
    """Return where to cut `text`, which is longer than `limit` and known `LOOK_AHEAD` beyond it, if it goes on.

    In this order: at a comma, before a quote or bracket, at a space; then the same within quotes; then between
    words. Within a number only where it alone is longer than the limit.
    """
    text = text[: limit + LOOK_AHEAD]
    places = [(position, depth) for position, depth in _depths(text, limit) if position]
    ranked = [(_rank(text, position, depth), position) for position, depth in places]
    good = [(rank, position) for rank, position in ranked if rank]
    if good:
        return max(good)[1]
    return _cut_between_words(text, limit)


def _depths(text: str, limit: int) -> list[tuple[int, int]]:
    """Positions between two characters up to `limit`, each with the depth of nesting there."""
    nesting = Nesting()
    depths = [(0, 0)]
    for position in range(min(limit, len(text))):
        if position + 1 == len(text):
            break
        nesting.step(text, position)
        depths.append((position + 1, nesting.depth))
    return depths


def _rank(text: str, position: int, depth: int) -> int:
    """How good it is to cut before the character at `position`; 0 where it is not."""
    if _is_comma(text, position):
        rank = 3
    elif text[position] in OPENING:
        rank = 2
    elif text[position].isspace() or (depth and text[position - 1] in "。！？"):
        rank = 1
    else:
        return 0
    return rank + 3 * (position >= _SHORT) + 6 * (depth == 0)


def _is_comma(text: str, position: int) -> bool:
    """Whether a comma ends before `position`; a half-width one needs white space after it."""
    if position == 0 or text[position - 1] not in _COMMAS:
        return False
    if text[position - 1] in ",;":
        return text[position].isspace()
    return text[position] not in _NOT_FIRST


def _cut_between_words(text: str, limit: int) -> int:
    numbers = _inside(_NUMBER, text)
    words = _inside(_WORD, text)
    free = [position for position in range(1, limit + 1) if position not in numbers]
    clean = [place for place in free if place not in words and text[place] not in _NOT_FIRST]
    after_kana = {found.start() for found in _AFTER_KANA.finditer(text)}
    best = [place for place in clean if place in after_kana and place * 2 > limit]
    for places in (best, [place for place in clean if place * 2 > limit], clean, free):
        if places:
            return places[-1]
    return limit


def _inside(pattern: re.Pattern[str], text: str) -> set[int]:
    """Positions that lie within what `pattern` finds."""
    spans = (range(found.start(), found.end() + 1) for found in pattern.finditer(text))
    return {later for span in spans for _, later in pairwise(span) if later < span[-1]}
