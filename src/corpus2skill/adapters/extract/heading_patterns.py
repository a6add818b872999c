"""Lines that name themselves as headings: 第3章 解約, 第12条（解約）, 附則, 1.2 Scope, Article 5, ■お支払い."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NUMBER = "[0-9０-９一二三四五六七八九十百千〇]+"
_AFTER = r"(?=$|[\s　（(【「『:：.．])"
_GAP = "[ 　]?"
_RANKED = (
    re.compile(rf"第{_GAP}{_NUMBER}{_GAP}[編部]{_AFTER}|Part\s+[0-9IVXA-Z]+\b"),
    re.compile(
        rf"第{_GAP}{_NUMBER}{_GAP}章{_AFTER}|(附則|付則){_AFTER}|Chapter\s+[0-9IVX]+\b|Appendix\s+[0-9A-Z]+\b"
    ),
    re.compile(rf"第{_GAP}{_NUMBER}{_GAP}節{_AFTER}|Section\s+[0-9IVX.]+\b"),
    re.compile(rf"第{_GAP}{_NUMBER}{_GAP}款{_AFTER}"),
    re.compile(rf"第{_GAP}{_NUMBER}{_GAP}条(の{_NUMBER})*{_AFTER}|Article\s+[0-9IVX]+\b"),
)
_NUMBERED = re.compile(r"[0-9０-９]+([.．][0-9０-９]+)*[.．]?[\s　]+\S")
_LETTERED = re.compile(r"[A-ZＡ-Ｚ][.．)）][\s　]+\S")
_SIGN = re.compile("[■□◆◇▼▽【]")
_LEADERS = re.compile(r"[.．・…‥]{4,}\s*[0-9]+$")
_SENTENCE_END = re.compile(r"[。．.！？!?、，,;；:：]$")

LONGEST = 60
"""Characters of a line that can still be a heading."""
_NUMBERED_RANK = 10
_LETTERED_RANK = 19
_SIGN_RANK = 20


def heading_rank(line: str) -> int | None:
    """Return the rank of a line that is a heading by its own words, lower ranks outermost; None for others.

    Ranks are not levels: see `levels`. Whether the line also stands apart is for the caller to see.
    """
    if not line or len(line) > LONGEST or _LEADERS.search(line):
        return None
    for rank, pattern in enumerate(_RANKED):
        if pattern.match(line):
            return None if _is_sentence(line) else rank
    return None


def loose_rank(line: str) -> int | None:
    """As `heading_rank`, and for `1.2 Scope` and `■お支払い` too, which lists and sentences may also begin with."""
    rank = heading_rank(line)
    if rank is not None or len(line) > LONGEST or _LEADERS.search(line) or _SENTENCE_END.search(line):
        return rank
    if numbered := _NUMBERED.match(line):
        return _NUMBERED_RANK + len(re.findall("[0-9０-９]+", numbered.group()))
    if _LETTERED.match(line):
        return _LETTERED_RANK
    return _SIGN_RANK if _SIGN.match(line) else None


def levels(ranks: Sequence[int]) -> dict[int, int]:
    """Return the level of each rank that occurs, 1 for the lowest rank."""
    return {rank: level for level, rank in enumerate(sorted(set(ranks)), start=1)}


def _is_sentence(line: str) -> bool:
    return line.endswith(("。", "、", "，", ",")) or "。" in line[:-1]
