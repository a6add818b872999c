"""Recognises what needs no document: thanks, greetings, goodbyes, agreement."""

from __future__ import annotations

import re
import unicodedata

_PHRASES = {
    "thanks": r"(?:どうも)?(?:本当に)?ありがとう(?:ござい(?:ます|ました))?|助かり(?:ます|ました)|感謝(?:します|しています)?|サンキュー"
    r"|thanks?(?: you)?(?: (?:so|very) much| a lot)?|thx|cheers|much appreciated|that (?:helps|helped)",
    "greeting": r"こんにち[はわ]|こんばん[はわ]|おはよう(?:ございます)?|はじめまして|もしもし|どうも|やあ|hello(?: there)?|hi(?: there)?|hey"
    r"|good (?:morning|afternoon|evening)|nice to meet you",
    "goodbye": r"さよ[うお]?なら|さようなら|失礼します|失礼いたします|それでは|またね?|また(?:お願いします|来ます)|バイバイ|(?:good ?)?bye(?: bye)?|see you(?: later)?",
    "agreement": r"わかりました|分かりました|わかった|了解(?:です|しました)?|承知(?:しました|いたしました)|なるほど|はい|いいえ|ええ|うん|大丈夫です"
    r"|お疲れ(?:様|さま)(?:です|でした)?|よろしく(?:お願いします)?|ok(?:ay)?|yes|no|i see|got it|understood|great|perfect|sure|all right",
}
_GAP = r"[\s、。,.!！~〜ー♪^]*"
_KINDS = {kind: re.compile(f"(?:{phrases}){_GAP}", re.IGNORECASE) for kind, phrases in _PHRASES.items()}


def small_talk(text: str) -> str | None:
    """Return the kind of small talk that all of `text` is (thanks, greeting, goodbye, agreement), or None."""
    rest = unicodedata.normalize("NFKC", text).strip()
    first_kind: str | None = None
    while rest:
        found = [(match.end(), kind) for kind, phrase in _KINDS.items() if (match := phrase.match(rest))]
        if not found:
            return None
        end, kind = max(found)
        if end < len(rest) and rest[end - 1].isalpha() and rest[end].isascii() and rest[end].isalpha():
            return None
        first_kind = first_kind or kind
        rest = rest[end:]
    return first_kind
