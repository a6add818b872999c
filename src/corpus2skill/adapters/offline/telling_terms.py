"""Words that a person can read and that say what a text is about."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping

from corpus2skill.adapters.offline.words import FUNCTION_WORDS, HAN, HIRAGANA, KATAKANA

_WIDE = f"{HAN}{KATAKANA}"
_TERM = re.compile(
    f"(?<![{_WIDE}])(?:当該|前記)?(?P<wide>[{_WIDE}]{{2,16}}?)[及又等並各]?(?![{_WIDE}])"
    "|(?P<latin>[A-Za-z][A-Za-z0-9]+(?:[.+#-][A-Za-z0-9]+)*)"
    f"|(?P<other>(?:(?![{_WIDE}{HIRAGANA}A-Za-z0-9])[^\\W\\d_]){{2,}})"
)
_LATIN_PAIR = re.compile(r"\b(?=([A-Za-z][A-Za-z0-9-]+ [A-Za-z][A-Za-z0-9-]+)\b)")
_EMPTY_TERMS = frozenset(
    re.findall(
        r"\S+",
        """
    場合 以下 以上 以外 以内 必要 可能 方法 次 当該 前項 前条 各号 規定 同条 同項 同法 一部 全部 際 等 等級 下記 上記 説明 内容 利用 使用 確認 対象 関係 関連 情報
    記載 事項 該当 一つ 二つ 自分 現在 一般 今回 複数 全体 最初 最後 参照 例 次号 前号 本条 又 及 第一 第二 第三 第四 第五 質問 回答 目次 概要 説明書 項目 詳細 各種
    種類 別途 通常 基本 ページ
    """,
    )
)
_EMPTY_LATIN = FUNCTION_WORDS | frozenset(
    re.findall(
        r"\S+",
        """
    use used uses using see following example examples information note new one two three also may
    must example http https www com html md page section chapter figure table step steps choose
    following e.g i.e etc via per however make makes need needs want way ways first next list get
    set select within without instead
    """,
    )
)


def terms(text: str) -> list[str]:
    """Return the terms of `text`: runs of kanji and katakana, Latin words and pairs of them, other words."""
    folded = unicodedata.normalize("NFKC", text)
    runs = (match[match.lastgroup or 0] for match in _TERM.finditer(folded))
    found = [run for run in runs if not is_empty(run)]
    return [
        *found,
        *(pair for pair in _LATIN_PAIR.findall(folded) if not any(map(is_empty, pair.split(" ")))),
    ]


def contrasting(
    own: Mapping[str, int], everywhere: Mapping[str, int], limit: int, named: Mapping[str, int] | None = None
) -> list[str]:
    """Return the terms of `own` that tell it from its siblings, the most telling first.

    The counts say in how many items a term occurs; `everywhere` counts the siblings' too, and `named` those
    that have it in a name, where it weighs three times as much. A term that says nearly the same as a chosen
    one is left out.
    """
    in_names = named or {}
    scored = sorted(own, key=lambda term: _order(term, own[term], everywhere[term], in_names.get(term, 0)))
    chosen: list[str] = []
    for term in scored:
        if len(chosen) == limit:
            break
        if not any(_is_same(term, other) for other in chosen):
            chosen.append(term)
    return chosen


def _order(term: str, count: int, everywhere: int, named: int) -> tuple[bool, int, str]:
    """First what several items have and few elsewhere, then by weight."""
    is_shared = count > 1 and 2 * count >= everywhere
    return not is_shared, -_weight(term, count, everywhere) * (count + 2 * named) // count, term


def _weight(term: str, count: int, everywhere: int) -> int:
    """Grows with the items that have the term and with their share of all that have it; whole numbers."""
    length = (6 if " " in term else 4) if term.isascii() else min(len(term), 6)
    return length * 1000 * count**3 // everywhere**2


def _is_same(term: str, other: str) -> bool:
    small, large = term.lower(), other.lower()
    return small in large or large in small or (small.isascii() and bool(_stems(small) & _stems(large)))


def _stems(term: str) -> set[str]:
    return {word[:5] for word in term.split(" ")}


def is_empty(term: str) -> bool:
    """True for a term that says nothing about what a text is about."""
    if term.isascii():
        return len(term) < 3 or term.lower() in _EMPTY_LATIN
    return term in _EMPTY_TERMS
