"""The numbers that a text states, however they are written: 12, １２, 十二, 1万2千, 12,000, twelve."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from decimal import Decimal

_FIGURE = r"\d+(?:[.,]\d+)*"
_FIGURES = re.compile(_FIGURE)
_OTHER_DIGIT = re.compile(r"(?![0-9])\d")
_WITH_UNITS = re.compile(rf"{_FIGURE}(?:[十百千万億兆]+(?:{_FIGURE})?)*")
_KANJI = re.compile(r"[〇零一二三四五六七八九十百千万億兆]+")
_STATED_KANJI = re.compile(
    r"(?<=第)[〇零一二三四五六七八九十百千]+(?=[条章節項号款編部])"
    r"|(?<![〇零一二三四五六七八九十百千万億兆])[〇零一二三四五六七八九十百千][〇零一二三四五六七八九十百千万億兆]+"
    r"(?=[円年月日時分秒%％人名件回個台条歳枚本か箇ヶカヵ週])"
)
"""Kanji that state a number beyond doubt: 第十二条, 三十日; not 一部, 十分, 万一."""
_COUNTED = re.compile(r"\s*(?:つ|種|点|段|通り|項目)")
"""Behind a small number: what the writer of a summary may have counted."""
_MOST_COUNTED = 10
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DIGITS = {letter: value for value, letter in enumerate("〇一二三四五六七八九")} | {"零": 0}
_SMALL = {"十": 10, "百": 100, "千": 1000}
_GREAT = {"万": 10**4, "億": 10**8, "兆": 10**12}
_PARTS = re.compile(rf"(?P<figure>{_FIGURE})|(?P<digits>[〇零一二三四五六七八九]+)|(?P<unit>[十百千万億兆])")
_LONGEST = 30
"""Digits above which a run is a code and compared as it stands."""

_ONES = """
    one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
    eighteen nineteen
"""
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_WORDS = (
    {word: number for number, word in enumerate(_ONES.split(), 1)}
    | {word: number * 10 for number, word in enumerate(_TENS.split(), 2)}
    | {word: number for number, word in enumerate(_ORDINALS.split(), 1)}
)
_WORD = re.compile(
    rf"\b(?:(?P<tens>{'|'.join(_TENS.split())})[- ](?P<ones>{'|'.join(_ONES.split()[:9])})|{'|'.join(_WORDS)})\b"
)


def numbers_not_in(summary: str, source: str) -> tuple[str, ...]:
    """Return the numbers that `summary` states and `source` does not, as `summary` writes them."""
    stated = dict.fromkeys(_stated(_plain_digits(summary)))
    as_written = set(_FIGURES.findall(source)) if stated else set[str]()
    doubtful = [written for written in stated if written not in as_written]
    if not doubtful:
        return ()
    known = _all_numbers(_plain_digits(unicodedata.normalize("NFKC", source))) | _signs(source)
    return tuple(written for written in doubtful if not _is_known(written, known))


def _stated(text: str) -> Iterator[str]:
    for match in _WITH_UNITS.finditer(text):
        is_small = match[0].isdecimal() and len(match[0]) <= 2 and int(match[0]) <= _MOST_COUNTED
        if not (is_small and _COUNTED.match(text, match.end())):
            yield match[0]
    for match in _STATED_KANJI.finditer(text):
        yield match[0]


def _is_known(written: str, known: set[str]) -> bool:
    """True for a number that stands in the source, and for a date or version whose parts do."""
    if _value(written) in known:
        return True
    is_plain = _FIGURES.fullmatch(written) and not _THOUSANDS.fullmatch(written)
    parts = re.split(r"[.,]", written)
    return bool(is_plain) and len(parts) > 2 and all(_value(part) in known for part in parts)


def _all_numbers(text: str) -> set[str]:
    """Every number that `text` can be read to state: too many rather than too few."""
    numbers = {_value(match[0]) for form in (_WITH_UNITS, _KANJI) for match in form.finditer(text)}
    for match in _FIGURES.finditer(text):
        parts = re.split(r"[.,]", match[0])
        numbers.update((_value(match[0]), *map(_value, parts)))
        numbers.update(_value(".".join(parts[:length])) for length in range(2, min(len(parts), 8)))
    for match in _WORD.finditer(text.lower()):
        words = (match["tens"], match["ones"]) if match["tens"] else (match[0],)
        numbers.update(str(_WORDS[word]) for word in words)
        numbers.add(str(sum(_WORDS[word] for word in words)))
    return numbers


def _signs(text: str) -> set[str]:
    """The numbers of single signs: ③, Ⅳ."""
    return {
        f"{unicodedata.numeric(sign):g}" for sign in set(text) if unicodedata.category(sign) in {"No", "Nl"}
    }


def _value(written: str) -> str:
    """Return a number in one form, whatever it was written in."""
    total = section = Decimal(0)
    current: Decimal | None = None
    for part in _PARTS.finditer(written):
        if part["unit"] is None:
            if len(part[0]) > _LONGEST:
                return written
            current = _figure(part["figure"]) if part["figure"] else _positional(part["digits"])
            continue
        factor = part["unit"]
        if factor in _SMALL:
            section += (Decimal(1) if current is None else current) * _SMALL[factor]
        else:
            section += current or 0
            total += (section or 1) * _GREAT[factor]
            section = Decimal(0)
        current = None
    return _canonical(total + section + (current or 0))


def _figure(written: str) -> Decimal:
    text = written.replace(",", "") if _THOUSANDS.fullmatch(written) else written.replace(",", ".")
    whole, *fractions = text.split(".")
    return Decimal(f"{whole}.{''.join(fractions)}" if fractions else whole)


def _positional(digits: str) -> Decimal:
    return Decimal("".join(str(_DIGITS[digit]) for digit in digits))


def _canonical(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _plain_digits(text: str) -> str:
    """Return `text` with the decimal digits of every script as 0 to 9."""
    return _OTHER_DIGIT.sub(lambda match: str(unicodedata.decimal(match[0])), text)
