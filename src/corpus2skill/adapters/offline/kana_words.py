"""Words of a Japanese text that a run of kanji, katakana or Latin letters alone does not show.

Without a dictionary a noun in hiragana (しゃもじ, でんち) cannot be told from endings and particles for sure. What is
given here are guesses: whoever looks for one that no text has has learnt nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from corpus2skill.adapters.offline.words import HAN, HIRAGANA, KATAKANA, fold

_RUN = re.compile(f"(?P<before>[{HAN}{KATAKANA}0-9a-z]?)(?P<run>[{HIRAGANA}]{{2,}})")
_LEADING = re.compile("(?:から|まで|には|では|とは|への|での|との|[をはがのにでともへや])")
_INNER = re.compile("(?<=..)[をはがのにもで](?=..)")
_TRAILING = re.compile("(?:から|まで|だけ|など|って|より|には|では|とは|でも|[をはがのにでともへやか])$")
_SHORTEST, _LONGEST = 2, 7
_ENDINGS = """
    です ます ました ませ でき くださ して した する すれ せず され させ ない なく なけれ なる なっ なり なら あり ある あっ いる いて いた
    れる れば られ ても たい でしょ だっ もら おり しょう すか のは るの たの とって だと という ついて おいて おける による により よって
"""
_FUNCTION_WORDS = """
    こと もの とき ため よう その この あの それ これ どの どれ いつ どこ だれ なぜ どう いくら いくつ ほど しか また ただし および または
    かつ とし いう いい よい ところ ほう とも ほか うち まま ごと さん しま いま おき ねが のに ので のか どうぞ すべて
"""
_GRAMMAR = re.compile(
    f"{'|'.join(_ENDINGS.split())}|^(?:{'|'.join(_FUNCTION_WORDS.split())})[をはがのにでともへやか]?$"
)
"""What stands between words, not for a thing."""
_OKURIGANA = re.compile(f"(?<![{HAN}])([{HAN}])[いきぎしちりびみえけげせねべめれ]([{HAN}])")


def hidden_words(text: str) -> list[str]:
    """Return the words of `text` that `index_words` does not see: those in hiragana, and pairs that it parts."""
    return hidden_words_of_folded(fold(text))


def hidden_words_of_folded(folded: str) -> list[str]:
    """`hidden_words` of a folded text."""
    return [*joined_pairs(folded), *kana_words(folded)]


def kana_words(folded: str) -> list[str]:
    """Return what in the hiragana of a folded text may be words, repeated as often as they occur."""
    return [
        word
        for match in _RUN.finditer(folded)
        for piece in _pieces(match["run"], follows_word=bool(match["before"]))
        for word in _variants(piece)
    ]


def is_kana_word(word: str) -> bool:
    return "\u3041" <= word[0] <= "\u309f"


def joined_pairs(folded: str) -> list[str]:
    """Return pairs of kanji that a letter of hiragana may part: 申込 for 申し込み, 引落 for 引き落とし."""
    return ["".join(pair) for pair in _OKURIGANA.findall(folded)]


def _pieces(run: str, *, follows_word: bool) -> Iterator[str]:
    """What is left of `run` between particles. What follows a word without one is its ending."""
    leading = _LEADING.match(run) if follows_word else None
    if follows_word and leading is None:
        return
    rest = run[leading.end() :] if leading else run
    yield rest
    inner = _INNER.split(rest)
    if len(inner) > 1:
        yield from inner


def _variants(piece: str) -> Iterator[str]:
    """`piece` with and without the particle that may stand at its end."""
    for word in dict.fromkeys((piece, _TRAILING.sub("", piece))):
        if _SHORTEST <= len(word) <= _LONGEST and not _GRAMMAR.search(word):
            yield word
