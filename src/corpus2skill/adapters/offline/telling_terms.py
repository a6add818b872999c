"""Words that a person can read and that say what a text is about."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence

from corpus2skill.adapters.offline.words import FUNCTION_WORDS, HAN, HIRAGANA, KATAKANA

_TERM = re.compile(
    f"[{HAN}{KATAKANA}]{{2,12}}(?![{HAN}{KATAKANA}])|[A-Za-z][A-Za-z0-9]+(?:[.+#-][A-Za-z0-9]+)*"
    f"|(?:(?![{HAN}{KATAKANA}{HIRAGANA}A-Za-z0-9])[^\\W\\d_]){{2,}}"
)
_EMPTY_TERMS = frozenset(
    [
        "場合",
        "以下",
        "以上",
        "以外",
        "以内",
        "必要",
        "可能",
        "方法",
        "次",
        "当該",
        "前項",
        "前条",
        "各号",
        "規定",
        "同条",
        "同項",
        "同法",
        "一部",
        "全部",
        "際",
        "等",
        "等級",
        "下記",
        "上記",
        "説明",
        "内容",
        "利用",
        "使用",
        "確認",
        "対象",
        "関係",
        "関連",
        "情報",
        "記載",
        "事項",
        "該当",
        "一つ",
        "二つ",
        "自分",
        "現在",
        "一般",
        "今回",
        "複数",
        "全体",
        "最初",
        "最後",
        "参照",
        "例",
        "次号",
        "前号",
        "本条",
        "又",
        "及",
        "第一",
        "第二",
        "第三",
        "第四",
        "第五",
        "質問",
        "回答",
        "目次",
        "概要",
        "説明書",
        "項目",
        "詳細",
        "各種",
        "種類",
        "別途",
        "通常",
        "基本",
        "ページ",
    ]
)
_EMPTY_LATIN = FUNCTION_WORDS | frozenset(
    [
        "use",
        "used",
        "uses",
        "using",
        "see",
        "following",
        "example",
        "examples",
        "information",
        "note",
        "new",
        "one",
        "two",
        "three",
        "also",
        "may",
        "must",
        "example",
        "http",
        "https",
        "www",
        "com",
        "html",
        "md",
        "page",
        "section",
        "chapter",
        "figure",
        "table",
        "step",
        "steps",
        "choose",
        "following",
        "e.g",
        "i.e",
        "etc",
        "via",
        "per",
        "however",
        "make",
        "makes",
        "need",
        "needs",
        "want",
        "way",
        "ways",
        "first",
        "next",
        "list",
        "get",
        "set",
        "select",
    ]
)


def terms(text: str) -> list[str]:
    """Return the terms of `text` in order: runs of kanji and katakana, Latin words, words of other scripts."""
    found = _TERM.findall(unicodedata.normalize("NFKC", text))
    return [term for term in found if not _is_empty(term)]


def contrasting(own: Counter[str], others: Sequence[Mapping[str, int]], limit: int) -> list[str]:
    """Return the terms of `own` that tell it from `others`, the most telling first.

    The counts say in how many items a term occurs. A term inside a longer chosen one is left out.
    """
    elsewhere: Counter[str] = Counter()
    for other in others:
        elsewhere.update(other.keys())
    scored = sorted(own, key=lambda term: (-_weight(term, own[term], elsewhere[term], len(others)), term))
    chosen: list[str] = []
    for term in scored:
        if len(chosen) == limit:
            break
        if not any(_is_same(term, other) for other in chosen):
            chosen.append(term)
    return chosen


def _weight(term: str, count: int, elsewhere: int, others: int) -> int:
    """Grows with the items that have the term, falls with the siblings that have it too; whole numbers."""
    length = min(len(term), 6) if not term.isascii() else 4
    return count * length * (4 * (others + 1) // (elsewhere + 1) + 1)


def _is_same(term: str, other: str) -> bool:
    small, large = term.lower(), other.lower()
    return small in large or large in small or (len(small) > 4 and small[:5] == large[:5] and small.isascii())


def _is_empty(term: str) -> bool:
    if term.isascii():
        return len(term) < 3 or term.lower() in _EMPTY_LATIN
    return term in _EMPTY_TERMS
