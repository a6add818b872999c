"""Numbers as a word processor writes them in front of paragraphs."""

from __future__ import annotations

from collections.abc import Callable

_KANJI_DIGITS = "〇一二三四五六七八九"
_KANJI_UNITS = ("", "十", "百", "千")
_LEGAL_DIGITS = "零壱弐参四伍六七八九"
_LEGAL_UNITS = ("", "拾", "百", "阡")
_AIUEO = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
_IROHA = "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン"
_AIUEO_HALF = "ｱｲｳｴｵｶｷｸｹｺｻｼｽｾｿﾀﾁﾂﾃﾄﾅﾆﾇﾈﾉﾊﾋﾌﾍﾎﾏﾐﾑﾒﾓﾔﾕﾖﾗﾘﾙﾚﾛﾜｦﾝ"
_IROHA_HALF = "ｲﾛﾊﾆﾎﾍﾄﾁﾘﾇﾙｦﾜｶﾖﾀﾚｿﾂﾈﾅﾗﾑｳヰﾉｵｸﾔﾏｹﾌｺｴﾃｱｻｷﾕﾒﾐｼヱﾋﾓｾｽﾝ"
_STEMS = "甲乙丙丁戊己庚辛壬癸"
_BRANCHES = "子丑寅卯辰巳午未申酉戌亥"
_WIDE = str.maketrans("0123456789", "０１２３４５６７８９")
_ROMAN = (
    (1000, "m"),
    (900, "cm"),
    (500, "d"),
    (400, "cd"),
    (100, "c"),
    (90, "xc"),
    (50, "l"),
    (40, "xl"),
    (10, "x"),
    (9, "ix"),
    (5, "v"),
    (4, "iv"),
    (1, "i"),
)


def numeral(number: int, style: str) -> str:
    """Return `number` in a numbering style of WordprocessingML; unknown styles and numbers are decimal.

    Bullets and `none` have no numeral: the result is empty.
    """
    if style in {"bullet", "none"}:
        return ""
    write = _STYLES.get(style, str)
    return write(number) if number > 0 or style == "decimalZero" else str(number)


def _letters(number: int) -> str:
    """a to z, then aa, bb: as word processors do."""
    times, at = divmod(number - 1, 26)
    return chr(ord("a") + at) * (times + 1)


def _roman(number: int) -> str:
    written = ""
    for value, letters in _ROMAN:
        times, number = divmod(number, value)
        written += letters * times
    return written


def _ordinal(number: int) -> str:
    is_teen = number % 100 in {11, 12, 13}
    return f"{number}{'th' if is_teen else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def _kanji(number: int, digits: str, units: tuple[str, ...], *, names_one: bool) -> str:
    """Positional reading up to 9999: 十二, 百, 二千五."""
    if number > 9999:
        return str(number)
    written = ""
    for place, digit in enumerate(reversed(str(number))):
        if digit != "0":
            shown = "" if digit == "1" and place and not names_one else digits[int(digit)]
            written = f"{shown}{units[place]}{written}"
    return written


def _digital_kanji(number: int) -> str:
    return "".join(_KANJI_DIGITS[int(digit)] for digit in str(number))


def _from_row(row: str) -> Callable[[int], str]:
    """Numbers past the end of the row begin again at its head."""
    return lambda number: row[(number - 1) % len(row)]


def _enclosed(ranges: tuple[tuple[int, int, int], ...], otherwise: str) -> Callable[[int], str]:
    """`ranges` are (first number, last number, character of the first)."""

    def write(number: int) -> str:
        for first, last, character in ranges:
            if first <= number <= last:
                return chr(character + number - first)
        return otherwise.format(number)

    return write


_STYLES: dict[str, Callable[[int], str]] = {
    "decimalZero": lambda number: f"{number:02d}",
    "lowerLetter": _letters,
    "upperLetter": lambda number: _letters(number).upper(),
    "lowerRoman": _roman,
    "upperRoman": lambda number: _roman(number).upper(),
    "ordinal": _ordinal,
    "decimalFullWidth": lambda number: str(number).translate(_WIDE),
    "decimalFullWidth2": lambda number: str(number).translate(_WIDE),
    "japaneseCounting": lambda number: _kanji(number, _KANJI_DIGITS, _KANJI_UNITS, names_one=False),
    "japaneseLegal": lambda number: _kanji(number, _LEGAL_DIGITS, _LEGAL_UNITS, names_one=True),
    "japaneseDigitalTenThousand": _digital_kanji,
    "ideographDigital": _digital_kanji,
    "chineseCounting": lambda number: _kanji(number, _KANJI_DIGITS, _KANJI_UNITS, names_one=False),
    "chineseCountingThousand": lambda number: _kanji(number, _KANJI_DIGITS, _KANJI_UNITS, names_one=False),
    "taiwaneseCounting": lambda number: _kanji(number, _KANJI_DIGITS, _KANJI_UNITS, names_one=False),
    "aiueoFullWidth": _from_row(_AIUEO),
    "aiueo": _from_row(_AIUEO_HALF),
    "irohaFullWidth": _from_row(_IROHA),
    "iroha": _from_row(_IROHA_HALF),
    "ideographTraditional": _from_row(_STEMS),
    "ideographZodiac": _from_row(_BRANCHES),
    "decimalEnclosedCircle": _enclosed(((1, 20, 0x2460), (21, 35, 0x3251), (36, 50, 0x32B1)), "({})"),
    "decimalEnclosedCircleChinese": _enclosed(((1, 20, 0x2460), (21, 35, 0x3251), (36, 50, 0x32B1)), "({})"),
    "decimalEnclosedParen": _enclosed(((1, 20, 0x2474),), "({})"),
    "decimalEnclosedFullstop": _enclosed(((1, 20, 0x2488),), "{}."),
    "ideographEnclosedCircle": _enclosed(((1, 10, 0x3280),), "({})"),
}
