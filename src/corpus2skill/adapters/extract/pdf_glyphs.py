"""The characters of PDF text: forms that fonts give for characters, and text that is none."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable

_RADICALS = {
    "⺁": "厂", "⺇": "几", "⺌": "小", "⺎": "兀", "⺏": "尣", "⺐": "尢", "⺒": "巳", "⺓": "幺", "⺛": "旡", "⺝": "月", "⺟": "母", "⺠": "民",
    "⺩": "王", "⺫": "目", "⺱": "网", "⺲": "罒", "⺷": "羊", "⺸": "羊", "⺹": "老", "⺻": "聿", "⺼": "月", "⺽": "臼", "⻁": "虎", "⻂": "衣",
    "⻃": "覀", "⻄": "西", "⻅": "见", "⻆": "角", "⻉": "贝", "⻋": "车", "⻑": "長", "⻒": "镸", "⻓": "长", "⻔": "门", "⻗": "雨", "⻘": "青",
    "⻙": "韦", "⻚": "页", "⻛": "风", "⻜": "飞", "⻝": "食", "⻟": "飠", "⻡": "首", "⻢": "马", "⻣": "骨", "⻤": "鬼", "⻥": "鱼", "⻦": "鸟",
    "⻧": "卤", "⻨": "麦", "⻩": "黄", "⻪": "黾", "⻫": "斉", "⻬": "齐", "⻭": "歯", "⻮": "齿", "⻯": "竜", "⻰": "龙", "⻱": "龜", "⻲": "亀",
}  # fmt: skip
"""Radicals of U+2E80..2EFF that are whole characters and that Unicode's own folding leaves alone."""
_FORMS = _RADICALS | {
    chr(code): folded
    for code in (*range(0x2E80, 0x2EF4), *range(0x2F00, 0x2FD6), *range(0xFB00, 0xFB07))
    if chr(code) not in _RADICALS and (folded := unicodedata.normalize("NFKC", chr(code))) != chr(code)
}
"""Radicals to ideographs, and Latin ligatures to letters."""
_BULLETS = dict.fromkeys((61548, 61550, 61553, 61557, 61607, 61623, 61656, 61692, 61599, 61558), "・")
"""Bullets of symbol fonts, which stand in the private use area."""
_TABLE = (
    {ord(form): character for form, character in _FORMS.items()}
    | _BULLETS
    | {0xA0: " ", 0xAD: None, 0xFEFF: None}
)

_GARBAGE_SHARE = 0.25
"""Between what was measured: readable pages have at most .006 of strange characters, garbage .58 and more."""
_GARBAGE_SCRIPTS = 3
_CONTROL_SHARE = 0.03
_BEYOND_LATIN = 0x0250
_SYMBOLS = ((0x2000, 0x2BFF), (0x3000, 0x33FF), (0xFE30, 0xFE4F), (0xFF00, 0xFFEF))


def cleaned(text: str) -> str:
    """Return a piece of a line with plain characters for forms, in one line, without spaces at its ends."""
    return text.translate(_TABLE).strip()


def is_garbage(texts: Iterable[str]) -> bool:
    """True where the characters are of many scripts at once, as a font without a map gives them."""
    counts = Counter(character for text in texts for character in text if not character.isspace())
    total = counts.total() or 1
    strange = {character: number for character, number in counts.items() if _is_strange(character)}
    scripts = {_script(character) for character in strange}
    return sum(strange.values()) > _GARBAGE_SHARE * total and len(scripts) >= _GARBAGE_SCRIPTS


def has_controls(texts: Iterable[str]) -> bool:
    """True where control characters stand between letters: codes of a font, taken for characters."""
    counts = Counter(character for text in texts for character in text)
    controls = sum(number for character, number in counts.items() if character < "\x20" and character != "\t")
    return controls > _CONTROL_SHARE * (counts.total() or 1)


def _is_strange(character: str) -> bool:
    code = ord(character)
    if code < _BEYOND_LATIN or any(first <= code <= last for first, last in _SYMBOLS):
        return False
    try:
        character.encode("cp932")
    except UnicodeEncodeError:
        return True
    return 0xE000 <= code <= 0xF8FF


def _script(character: str) -> str:
    if unicodedata.category(character) in {"Co", "Cn", "Cs"}:
        return unicodedata.category(character)
    return unicodedata.name(character, "?").split(" ", 1)[0]
