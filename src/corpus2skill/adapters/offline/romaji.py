"""Kana in Latin letters (Hepburn, without long-vowel marks), for slugs."""

from __future__ import annotations

import re
import unicodedata

_SYLLABLES = re.findall(
    r"\S+",
    """
    ア a イ i ウ u エ e オ o カ ka キ ki ク ku ケ ke コ ko ガ ga ギ gi グ gu ゲ ge ゴ go サ sa シ shi ス su セ se ソ so
    ザ za ジ ji ズ zu ゼ ze ゾ zo タ ta チ chi ツ tsu テ te ト to ダ da ヂ ji ヅ zu デ de ド do ナ na ニ ni ヌ nu ネ ne
    ノ no ハ ha ヒ hi フ fu ヘ he ホ ho バ ba ビ bi ブ bu ベ be ボ bo パ pa ピ pi プ pu ペ pe ポ po マ ma ミ mi ム mu メ
    me モ mo ヤ ya ユ yu ヨ yo ラ ra リ ri ル ru レ re ロ ro ワ wa ヰ i ヱ e ヲ o ン n ヴ vu ァ a ィ i ゥ u ェ e ォ o ャ
    ya ュ yu ョ yo ヮ wa
    """,
)
_TABLE = dict(zip(_SYLLABLES[::2], _SYLLABLES[1::2], strict=True))
_SMALL_Y = "ャュョ"
_SMALL_VOWELS = "ァィゥェォ"
_DOUBLING = "ッ"
_LONG = "ー"


def romanise(text: str) -> str:
    """Return `text` with its kana in Latin letters; every other character stays as it is."""
    kana = "".join(map(_katakana, unicodedata.normalize("NFKC", text)))
    out = ""
    is_doubled = False
    for at, letter in enumerate(kana):
        if letter == _DOUBLING:
            is_doubled = True
            continue
        if letter == _LONG and at and (kana[at - 1] in _TABLE):
            continue
        out = _joined(out, letter, is_after_kana=bool(at) and kana[at - 1] in _TABLE, is_doubled=is_doubled)
        is_doubled = False
    return out


def _joined(out: str, letter: str, *, is_after_kana: bool, is_doubled: bool) -> str:
    sound = _TABLE.get(letter, letter)
    if is_after_kana and letter in _SMALL_Y and out.endswith("i"):
        base = out[:-1]
        return base + (sound[1:] if base.endswith(("sh", "ch", "j")) else sound)
    if is_after_kana and letter in _SMALL_VOWELS and out.endswith(("u", "e", "i", "o")):
        return out[:-1] + sound
    if is_doubled and letter in _TABLE and sound[0] not in "aiueon":
        return out + ("t" if sound.startswith("ch") else sound[0]) + sound
    return out + sound


def _katakana(letter: str) -> str:
    return chr(ord(letter) + 0x60) if "ぁ" <= letter <= "ゖ" else letter
