"""Index words of a text in any script, without a dictionary.

A text is cut where its script changes. Runs of kanji give every single character and every pair of
neighbours, runs of katakana one word, hiragana nothing (particles and endings; `kana_words` has the rest),
Latin words their English stem, numbers themselves, an article named by its number that name. Other scripts
give words, or pairs of characters where they write no spaces.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache, lru_cache

import Stemmer

from corpus2skill.adapters.offline.numerals import in_digits

HAN = "々〆〇\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff"
HIRAGANA = "\u3041-\u309f"
_UNSPACED = "\uac00-\ud7a3\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"
_MARKS = "\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0903\u093a-\u094f\u0980-\u0dff"

_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]+")
_RUN = re.compile(
    f"(?P<han>[{HAN}]+)|(?P<katakana>[{KATAKANA}]+)|(?P<hiragana>[{HIRAGANA}]+)|(?P<unspaced>[{_UNSPACED}]+)"
    f"|(?P<word>(?:(?![{HAN}{KATAKANA}{HIRAGANA}{_UNSPACED}])[^\\W_]|[{_MARKS}])+)"
)
_KANJI_PAIR = re.compile(f"[{HAN}]{{2}}")
_LATIN = re.compile(r"[A-Za-z0-9]+")
_ACCENTED = re.compile("[\u00c0-\u024f\u1e00-\u1eff]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ORDINAL = re.compile(r"第 ?\d+ ?[編章節款条項号](?:の\d+)?")
_LONG_VOWEL_FROM = 4
"""Characters of a katakana word from which a long vowel at its end is written or not: サーバー, サーバ."""
_JOINED_CASE = re.compile(r"[a-z][A-Z]")
_CASE_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_SPELLED_OUT = {"ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L"}

FUNCTION_WORDS = frozenset(
    re.findall(
        r"\S+",
        """
    a about after all also an and any are as at be because been before being between both but by can
    could did do does doing down during each few for from further had has have having he her here
    hers him his how i if in into is it its itself just me more many may might most much must my no nor not now of off on
    once only or other our ours out over own same shall she should so some such than that the their theirs
    them then there these they this those through to too under until up upon us very was we were
    what when where which while who whom whose why will with would you your yours
    """,
    )
)
"""English words that carry no meaning of their own: neither indexed nor asked for."""

_stemmer = Stemmer.Stemmer("english")


def fold(text: str) -> str:
    """Return `text` as the index compares it: NFKC, lower case, numbers in digits without separators."""
    return fold_width(text).lower()


def index_words(text: str) -> list[str]:
    """Return the index words of `text`, repeated as often as they occur; their order means nothing."""
    return words_of_folded(fold_width(text))


def words_of_folded(folded: str) -> list[str]:
    """`index_words` of a text that `fold_width` has folded."""
    words = [word for surface in _LATIN.findall(folded) for word in _latin_words(surface)]
    for segment in _BEYOND_ASCII.findall(folded):
        words.extend(_words_of_runs(segment.lower()))
    if "第" in folded:
        words.extend(name.replace(" ", "") for name in _ORDINAL.findall(folded))
    return words


def fold_width(text: str) -> str:
    """Return `text` as `fold` does, with its capitals: they part names such as `BatchGetItem`."""
    folded = in_digits(_THOUSANDS.sub("", unicodedata.normalize("NFKC", text)))
    return folded.translate(_plain_letters()) if _ACCENTED.search(folded) else folded


@cache
def _plain_letters() -> dict[int, str]:
    """Latin letters with an accent, by code, to the letter without it."""
    accented = (*range(0xC0, 0x250), *range(0x1E00, 0x1F00))
    plain = {code: unicodedata.normalize("NFD", chr(code))[0] for code in accented}
    whole = {code: letter for code, letter in plain.items() if letter.isascii()}
    return whole | {ord(letter): ascii_letters for letter, ascii_letters in _SPELLED_OUT.items()}


@lru_cache(maxsize=1 << 17)
def _latin_words(surface: str) -> tuple[str, ...]:
    """The stem of one Latin word; for a name such as `BatchGetItem` those of its parts beside it."""
    names = [surface]
    if _JOINED_CASE.search(surface):
        names += [part for part in _CASE_PART.findall(surface) if len(part) > 1]
    lowered = (name.lower() for name in names)
    return tuple(_stem(name) for name in lowered if name not in FUNCTION_WORDS)


def _stem(word: str) -> str:
    return word if not word.isalpha() or len(word) < 3 else str(_stemmer.stemWord(word))


def _words_of_runs(segment: str) -> Iterator[str]:
    for match in _RUN.finditer(segment):
        run = match[0]
        kind = match.lastgroup
        if kind == "han":
            yield from run
            yield from pairs(run)
        elif kind == "katakana" and len(run) >= _LONG_VOWEL_FROM:
            yield run.removesuffix("ー")
        elif kind == "unspaced":
            yield from pairs(run) if len(run) > 1 else (run,)
        elif kind != "hiragana" and run != "ー":
            yield run


def pairs(run: str) -> Iterator[str]:
    """Yield each two neighbouring characters of `run`."""
    return (run[at : at + 2] for at in range(len(run) - 1))


def is_single_kanji(word: str) -> bool:
    return len(word) == 1 and not word.isascii()


def is_kanji_pair(word: str) -> bool:
    return len(word) == 2 and bool(_KANJI_PAIR.match(word))
