"""Numbers as a spreadsheet shows them: dates, percentages, thousands, currencies.

A number format is a little language. What is understood of it is what changes the meaning for a reader; for
anything else the plain number is given, which is never wrong.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

BUILT_IN: dict[int, str] = {
    1: "0",
    2: "0.00",
    3: "#,##0",
    4: "#,##0.00",
    5: '"¥"#,##0',
    6: '"¥"#,##0',
    7: '"¥"#,##0.00',
    8: '"¥"#,##0.00',
    9: "0%",
    10: "0.00%",
    14: "yyyy/m/d",
    15: "d-mmm-yy",
    16: "d-mmm",
    17: "mmm-yy",
    18: "h:mm AM/PM",
    19: "h:mm:ss AM/PM",
    20: "h:mm",
    21: "h:mm:ss",
    22: "yyyy/m/d h:mm",
    37: "#,##0",
    38: "#,##0",
    39: "#,##0.00",
    40: "#,##0.00",
    45: "mm:ss",
    46: "[h]:mm:ss",
    47: "mm:ss",
    **dict.fromkeys((27, 28, 29, 30, 31, 36, 50, 51, 52, 53, 54, 57, 58), 'yyyy"年"m"月"d"日"'),
    **dict.fromkeys((32, 33, 34, 35), "h:mm"),
    55: 'yyyy"年"m"月"',
    56: 'yyyy"年"m"月"d"日"',
}
"""Formats that files name by number only, as a Japanese Excel shows them."""

_LITERAL = re.compile(r'"([^"]*)"|\\(.)|\[\$([^\]-]*)[^\]]*\]|[_*].|\[[^\]]*\]')
_ELAPSED = re.compile(r"\[(h+|m+|s+)\]", re.IGNORECASE)
_DATE_LETTERS = re.compile(r"[ymdhsge]", re.IGNORECASE)
_DAY_LETTERS = re.compile("[ydge]")
_TIME_LETTERS = re.compile("[hs]")
_DIGIT = re.compile("[0-9]")
_SIGN = re.compile("[-−‐▲△▼(（]")
_MIDNIGHT = dt.time()
_NUMBER = re.compile(r"[#0?][#0?,]*(?:\.([#0?]*))?(,*)")
_LARGEST_DAY = 2_958_466
"""The day after 9999-12-31, counted as spreadsheets count."""


def plain_number(number: float) -> str:
    """Return a number with the 15 digits that spreadsheets keep, without exponent where it is of usual size."""
    if number == int(number) and abs(number) < 1e15:
        return str(int(number))
    shown = f"{number:.15g}"
    return f"{number:.15f}".rstrip("0") if "e-" in shown and abs(number) >= 1e-9 else shown


@lru_cache(maxsize=1024)
def number_format(code: str, *, is_from_1904: bool = False) -> Callable[[float], str]:
    """Return what shows a number as the format `code` does."""
    sections = _sections(code)
    if len(sections) == 1:
        return _shower(code, is_from_1904=is_from_1904)
    positive, negative, *others = [
        _shower(section, is_from_1904=is_from_1904) if section.strip() else _nothing for section in sections
    ]
    zero = others[0] if others else positive

    def show(number: float) -> str:
        if number < 0:
            return _signed(negative(-number))
        return zero(number) if number == 0 else positive(number)

    return show


def _nothing(number: float) -> str:
    """What an empty section shows: zeros are often hidden so."""
    return ""


def _signed(words: str) -> str:
    """A negative number that only its colour tells needs a sign where there are no colours."""
    return f"-{words}" if _DIGIT.search(words) and not _SIGN.search(words) else words


def _sections(code: str) -> list[str]:
    """A format has up to four sections: for positive numbers, negative ones (which bring their sign), zero, text."""
    sections = [""]
    at = 0
    while at < len(code):
        literal = _LITERAL.match(code, at)
        piece = literal.group() if literal else code[at]
        if piece == ";":
            sections.append("")
        else:
            sections[-1] += piece
        at += len(piece)
    return sections


def _shower(section: str, *, is_from_1904: bool) -> Callable[[float], str]:
    """Return what shows a number as one section says. Sections for negative numbers get them without their sign."""
    if _ELAPSED.search(section):
        return _elapsed
    bare = _LITERAL.sub("", section)
    if not bare.strip() and section.strip():
        words = _said(section)
        return lambda number: words or plain_number(number)
    if bare.strip().lower() in {"", "general", "g/標準", "@"} or "E" in bare or ("/" in bare and "#" in bare):
        return plain_number
    if _DATE_LETTERS.search(bare):
        return _date_shower(section, bare.lower(), is_from_1904=is_from_1904)
    decoration = _decoration(section)
    return plain_number if decoration is None else decoration.shown


def _elapsed(number: float) -> str:
    """A duration: it goes on beyond 24 hours."""
    if number < 0:
        return f"-{_elapsed(-number)}"
    minutes, seconds = divmod(round(number * 86_400), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if seconds else f"{hours}:{minutes:02}"


def _date_shower(section: str, letters: str, *, is_from_1904: bool) -> Callable[[float], str]:
    has_time = bool(_TIME_LETTERS.search(letters))
    has_date = bool(_DAY_LETTERS.search(letters)) or ("m" in letters and not has_time)
    is_japanese = "年" in section or "月" in section

    def show(number: float) -> str:
        moment = _moment(number, is_from_1904=is_from_1904)
        if moment is None:
            return plain_number(number)
        clock = f"{moment.hour:02}:{moment.minute:02}" + (f":{moment.second:02}" if moment.second else "")
        if not has_date:
            return clock
        day = _day(moment, has_day="d" in letters, is_japanese=is_japanese)
        return f"{day} {clock}" if has_time and moment.time() != _MIDNIGHT else day

    return show


def _day(moment: dt.datetime, *, has_day: bool, is_japanese: bool) -> str:
    """The year always stands: a reader of one row does not see the sheet's."""
    if is_japanese:
        return f"{moment.year}年{moment.month}月" + (f"{moment.day}日" if has_day else "")
    return f"{moment.year}-{moment.month:02}" + (f"-{moment.day:02}" if has_day else "")


def _moment(number: float, *, is_from_1904: bool) -> dt.datetime | None:
    """Days are counted from 1900 with a 29 February that never was, or from 1904."""
    if not 0 <= number < _LARGEST_DAY:
        return None
    first = dt.datetime(1904, 1, 1) if is_from_1904 else dt.datetime(1899, 12, 30)  # noqa: DTZ001 - sheets know no zones
    days = number if is_from_1904 or number >= 61 else number + 1
    try:
        return first + dt.timedelta(seconds=round(days * 86_400))
    except OverflowError:
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Decoration:
    """Digits and what stands around them."""

    before: str
    after: str
    decimals: int
    has_commas: bool
    zeros: int
    """Digits before the point that stand even where they are 0, as in numbers of customers."""
    factor: float
    """100 for per cent, .001 for thousands."""

    def shown(self, number: float) -> str:
        value = abs(number) * self.factor
        digits = f"{value:,.{self.decimals}f}" if self.has_commas else f"{value:.{self.decimals}f}"
        width = self.zeros + (self.decimals + 1 if self.decimals else 0)
        return f"{'-' if number < 0 else ''}{self.before}{digits.zfill(width)}{self.after}".strip()


def _decoration(section: str) -> _Decoration | None:
    """Split a section into what stands before, the digits and what stands after."""
    literals = [_literal(match) for match in _LITERAL.finditer(section)]
    masked = _LITERAL.sub("\0", section)
    found = list(_NUMBER.finditer(masked))
    if len(found) != 1:
        return None
    digits = found[0]
    texts = iter(literals)
    before, middle, after = (
        re.sub("\0", lambda _: next(texts), piece)
        for piece in (masked[: digits.start()], digits.group(), masked[digits.end() :])
    )
    whole = middle.split(".", 1)[0]
    scaled = len(digits.group(2)) or len(whole) - len(whole.rstrip(","))
    return _Decoration(
        before=before,
        after=after,
        decimals=min(len(digits.group(1) or ""), 15),
        has_commas="," in whole.rstrip(","),
        zeros=whole.count("0"),
        factor=(100 if "%" in before + after else 1) / 1000**scaled,
    )


def _said(section: str) -> str:
    return "".join(_literal(match) for match in _LITERAL.finditer(section)).strip()


def _literal(match: re.Match[str]) -> str:
    return next((group for group in match.groups() if group), "")
