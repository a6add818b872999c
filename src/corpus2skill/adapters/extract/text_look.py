"""Whether decoded characters look like text that somebody wrote."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

from corpus2skill.errors import SourceRefused

_REPLACED_SHARE = 0.005
"""Above this share of U+FFFD a text counts as destroyed."""
_CONTROL_SHARE = 0.01
_MOJIBAKE_SHARE = 0.05
_FEWEST_SIGNS = 4
"""Fewer bad characters than this prove nothing in a short text."""
_KANA_SHARE = 0.1
_COMMON_SHARE = 0.95
_FOREIGN_LETTERS = 0.25
_MARK_WITHIN = re.compile(r"[A-Za-z][^\x00-\x7f’][A-Za-z]")
_GLUED = re.compile("[a-z][一-龠]|[一-龠][a-z]")
_HALF_WIDTH = ("\uff61", "\uff9f")
_BEYOND_ACCENTS = "\u0530"
"""Above Latin, Greek and Cyrillic, whose letters may stand alone in a text of plain ones."""
_COMMON_HANGUL = frozenset(
    "이다는을의에가고하지로한기도사리를자스어나인시대그라정해서아일만제과부여수동전주구장상원신보조은들음으면화성오비국공소세우마게적안학있없것습니까요"
)
"""Of these syllables three of ten in any Korean sentence are."""
_COMMON_HANGUL_SHARE = 0.3

_MOJIBAKE = re.compile(
    r"[縺繧繝]."  # UTF-8 read as CP932: every kana begins with one of these three
    r"|[ãåäæçèéïÃÂ][\x80-\xbfŒœŠšŽžŸƒˆ˜–—‘’‚“”„†‡•…‰‹›€™]{1,2}"  # UTF-8 read as Latin
    r"|[‚ƒ][\x80-\xffŒœŠšŽžŸƒˆ˜–—‘’‚“”„†‡•…‰‹›€™A-Za-z@]"  # CP932 read as Latin
    r"|[¤¥][¡-ÿ]"  # EUC-JP read as Latin
)
_CONTROL = re.compile("[\x00-\x08\x0e-\x19\x1c-\x1f\x7f-\x84\x86-\x9f]")
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"[^\W\d_]+")
_KANA = re.compile("[ぁ-ゖァ-ヺー]")
_KANJI = re.compile("[一-龠々〆]")
_MARKS = re.compile(
    "[、。「」『』（）・！？：；％＆＋－＝／０-９Ａ-Ｚａ-ｚ〜～…―【】〈〉《》〔〕①-⑳Ⅰ-Ⅻ㈱№℡□■○●◎◆◇△▲▽▼☆★※→←↑↓〒＊＃＠￥]"
)
_FOREIGN_MARKS = "«»“”‘’–—…©®°€£§·"
_RARE = 0.6
"""What a character counts that Japanese has and seldom uses: half-width kana, Greek, Cyrillic, gaiji."""


def require_readable(text: str) -> None:
    """Refuse a text that decoding succeeded on and that is destroyed or binary all the same.

    Raises:
        SourceRefused: `undecodable`, with the share of bad characters in per cent.
    """
    dense = _SPACE.sub("", text)
    controls, mojibake = _CONTROL.findall(dense), _MOJIBAKE.findall(dense)
    _require(dense, dense.count("\ufffd"), _REPLACED_SHARE, "replaced")
    if len(mojibake) >= _FEWEST_SIGNS:
        _require(dense, sum(map(len, mojibake)), _MOJIBAKE_SHARE, "mojibake")
    if len(controls) >= _FEWEST_SIGNS:
        _require(dense, len(controls), _CONTROL_SHARE, "binary")


def japanese_look(text: str) -> float:
    """Return how much the characters beyond ASCII look like Japanese prose, 0 to 1."""
    counts = Counter(character for character in text if character > "\x7f" and not character.isspace())
    weighed = sum(_japanese_weight(character) * number for character, number in counts.items())
    return weighed / (counts.total() or 1)


def has_kana(text: str) -> bool:
    """True where kana stand among the other characters as they do in Japanese prose."""
    beyond = [character for character in text if character > "\x7f" and not character.isspace()]
    return sum(1 for character in beyond if _KANA.match(character)) >= _KANA_SHARE * (len(beyond) or 1)


def has_common_kanji_only(text: str) -> bool:
    """True where the kanji are those of JIS level 1; other Chinese characters read as Japanese are not."""
    kanji = [character for character in text if _KANJI.match(character)]
    return bool(kanji) and sum(map(_is_first_level, kanji)) >= _COMMON_SHARE * len(kanji)


def has_mostly_marks(text: str) -> bool:
    """True for plain English with quotes and arrows as Japanese programs write them, and a kanji here and there."""
    beyond = [character for character in text if character > "\x7f"]
    if any(_HALF_WIDTH[0] <= character <= _HALF_WIDTH[1] for character in beyond):
        return False  # two bytes of EUC-JP, read as CP932
    letters = [character for character in beyond if not _is_mark(character)]
    are_common = all(_KANA.match(letter) or _is_first_level(letter) for letter in letters)
    return len(letters) * 2 <= len(beyond) and are_common and not _MARK_WITHIN.search(text)


def has_accents_only(text: str) -> bool:
    """True for mostly plain letters with accented, Greek or Cyrillic ones here and there."""
    letters = [character for character in text if character.isalpha()]
    beyond = [character for character in letters if character > "\x7f"]
    return len(beyond) <= _FOREIGN_LETTERS * len(letters) and all(
        character < _BEYOND_ACCENTS for character in beyond
    )


def has_glued_kanji(text: str) -> bool:
    """True where a kanji stands within or at a small Latin word: an accent or a quote with the letter after it."""
    return bool(_GLUED.search(text))


def is_korean(text: str) -> bool:
    """True for Hangul with its usual syllables: kanji read as Korean give rare ones."""
    letters = [character for character in text if character.isalpha() and character > "\x7f"]
    common = [letter for letter in letters if letter in _COMMON_HANGUL]
    is_usual = len(common) >= _COMMON_HANGUL_SHARE * len(letters) and len(set(common)) > 1
    return bool(letters) and is_usual and all("가" <= letter <= "힣" for letter in letters)


def word_look(text: str) -> float:
    """Return the share of characters beyond ASCII that stand as letters in words of one script, 0 to 1."""
    beyond = sum(1 for character in text if character > "\x7f" and not character.isspace())
    if not beyond:
        return 1.0
    fitting = sum(_beyond_ascii(word) for word in _WORD.findall(text) if _is_one_word(word))
    return (fitting + sum(map(text.count, _FOREIGN_MARKS))) / beyond


def is_likely_utf16(text: str) -> bool:
    """True where nearly every character is in ordinary use; the other byte order fails this."""
    counts = Counter(text[:200_000])
    return (
        sum(number for character, number in counts.items() if _is_ordinary(character))
        >= 0.95 * counts.total()
    )


def _require(dense: str, bad: int, limit: float, detail: str) -> None:
    if dense and bad > limit * len(dense):
        raise SourceRefused("undecodable", detail, percent=round(bad / len(dense) * 100, 1))


def _japanese_weight(character: str) -> float:
    if _KANA.match(character) or _KANJI.match(character) or _MARKS.match(character):
        return 1.0
    return _RARE if _is_in_cp932(character) else 0.0


def _is_in_cp932(character: str) -> bool:
    try:
        character.encode("cp932")
    except UnicodeEncodeError:
        return False
    return not "\ue000" <= character <= "\uf8ff"


def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] in "PSZ" and _is_in_cp932(character)


def _is_first_level(kanji: str) -> bool:
    """True for the 2,965 kanji of JIS level 1, which nearly all Japanese writing stays within."""
    try:
        code = kanji.encode("euc_jp")
    except UnicodeEncodeError:
        return False
    return len(code) == 2 and code[0] <= 0xCF


def _is_ordinary(character: str) -> bool:
    if character < "\x20":
        return character in "\t\n\r\f"
    return (character <= "\u024f" and character != "\x7f") or _is_in_cp932(character)


def _beyond_ascii(word: str) -> int:
    return sum(1 for character in word if character > "\x7f")


def _is_one_word(word: str) -> bool:
    """True for letters of one script whose capitals stand where capitals do."""
    scripts = {unicodedata.name(character, "?").split(" ", 1)[0] for character in word}
    has_case = word.upper() != word.lower()
    return len(scripts) == 1 and (not has_case or word.isupper() or word[1:] == word[1:].lower())
