"""Writes numbers in kanji as digits, so that 第十二条 and 第12条, 十六歳 and 16歳, 5万円 and 50,000円 are the same."""

from __future__ import annotations

import re

_KANJI_DIGITS = "〇一二三四五六七八九"
_DIGITS = {sign: value for signs in (_KANJI_DIGITS, "0123456789") for value, sign in enumerate(signs)}
_SMALL_UNITS = {"十": 10, "百": 100, "千": 1_000}
_BIG_UNITS = {"万": 10_000, "億": 100_000_000}
_SIGNS = "".join((_KANJI_DIGITS, *_SMALL_UNITS, *_BIG_UNITS))
_ANY = f"[0-9{_SIGNS}]"
_COUNTERS = "(?:[歳才円年月日時秒回人名個台本枚匹頭週泊件階度倍割条項合杯冊点%]|分(?!の)|[かヶケカ箇][月所国年]|営業日|パーセント|センチ|ミリ|メートル|キロ|グラム|リットル)"
_NUMERAL = re.compile(
    f"(?:(?<=第)|(?<=第 )){_ANY}{{1,16}}(?= ?[編章節款条項号部回])"
    f"|(?<=条の){_ANY}{{1,16}}(?=第|[^0-9〇\u4e00-\u9fff]|$)"
    f"|(?<![0-9.{_SIGNS}])(?!十分)(?=[0-9]*[{_SIGNS}]){_ANY}{{1,16}}(?={_COUNTERS})"
)
"""Only where a counter follows or 第 precedes: elsewhere such a character is a part of a word (一般, 千葉)."""
_SIGN = re.compile(f"[{_SIGNS}]")


def in_digits(text: str) -> str:
    """Return `text`, which is NFKC, with its counted kanji numbers in digits."""
    return _NUMERAL.sub(lambda match: _value(match[0]), text) if _SIGN.search(text) else text


def _value(numeral: str) -> str:
    """The number that `numeral` means; 二〇二四 place by place, 二千二十四 by its units."""
    total = section = number = 0
    for sign in numeral:
        if sign in _BIG_UNITS:
            total += (section + number or 1) * _BIG_UNITS[sign]
            section = number = 0
        elif sign in _SMALL_UNITS:
            section += (number or 1) * _SMALL_UNITS[sign]
            number = 0
        else:
            number = number * 10 + _DIGITS[sign]
    return str(total + section + number)
