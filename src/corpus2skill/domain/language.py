"""The two languages of the product, and which of them a text is in."""

from __future__ import annotations

import re
from typing import Literal

Language = Literal["ja", "en"]

_KANA = re.compile(r"[\u3041-\u30ff\uff66-\uff9f]")
_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_WORD = re.compile(r"(?<![A-Za-z])[A-Za-z]*[a-z][A-Za-z]+(?![A-Za-z])")
"""A word of a Latin script; `PC` and `NX-200` are names, and say nothing of the language around them."""


def detect_language(text: str, default: Language = "en") -> Language:
    """Return the language of `text` by its script; `default` where the script says nothing.

    One kana is proof of Japanese. Han characters alone count as Japanese too (headings such as 解約手続
    have no kana) unless Latin letters outnumber them five to one.
    """
    if _KANA.search(text):
        return "ja"
    han = len(_HAN.findall(text))
    latin = sum(map(len, _WORD.findall(text)))
    if not han and not latin:
        return default
    return "ja" if han * 5 >= latin else "en"


def majority_language(texts: list[str], default: Language = "en") -> Language:
    """Return the language of most characters of `texts`, each text counted by its own language."""
    weight: dict[Language, int] = {"ja": 0, "en": 0}
    for text in texts:
        weight[detect_language(text, default)] += len(text)
    if weight["ja"] == weight["en"]:
        return default
    return "ja" if weight["ja"] > weight["en"] else "en"
