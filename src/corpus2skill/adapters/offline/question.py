"""What a question asks for: its words with their weights, and what kind of answer it wants."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

from corpus2skill.adapters.offline.kana_words import kana_words
from corpus2skill.adapters.offline.telling import telling_weights
from corpus2skill.adapters.offline.telling_terms import terms
from corpus2skill.adapters.offline.words import HAN, index_words, is_single_kanji

_SINGLE_KANJI_WEIGHT = 0.3
"""A single character says less than the pairs that it is part of."""
_LONE_KANJI_WEIGHT = 0.6
"""One that stands between kana, such as 込 in 申し込む, is all there is of its word."""
_KANA_WEIGHT = 0.5
"""What may be a word in hiragana is a guess."""
_LONE_KANJI = re.compile(f"(?<![{HAN}])[{HAN}](?![{HAN}])")

_PHRASES = re.compile(
    "次の(?:うち|中)(?:から)?"
    "|(?:正しい|誤っている|適切な|不適切な|間違っている)もの"
    "|(?:どれ|どちら|どこ|どなた|だれ|誰|なぜ|何故|いつ|いくつ|いくら|どう|どの(?:よう|くらい|程度)?)"
    "(?:に|な|が|を|は|で|の|から|まで)?"
    "|(?:何|なん)(?:[かヶケカ箇][月所国年]|[年週日時]間|曜日|文字|種類|番目|メートル|センチ|キロ|グラム|パーセント"
    "|[年月日時分秒週人名回個歳才円語県国州番つ台枚匹本杯階号件度合社冊泊点部%])?(?:前|後|以[上下内]|目|ごと|て(?:いう|言う|呼ぶ))?"
    "(?:ですか|でしょうか|か)?"
    "|(?:教え|おしえ|説明し|示し|答え|挙げ|選択し|選び)(?:て|なさい)?(?:ください|下さい|ほしい|欲しい)?"
    "|(?:を|が)?知りたい(?:です)?"
    "|とは(?:何|なに|なん)?"
    "|(?:方法|やり方|仕方)(?=[はをがもと、。?？\\s]|$)"
    "|(?:可能|でき(?:ます|る(?:の|ん)?です)|でしょう)か"
    "|(?:お)?願いします"
)
"""Japanese question phrases that carry no meaning of their own."""
_ENGLISH_PHRASES = re.compile(
    r"\bhow (?:long|often|big|large|many|much|far|late|early|old|heavy|deep|warm|hot|tall|high|wide|fast|soon)\b"
    r"|\bwhat (?:time|kind|sort|type|date|day|number|size)\b(?: of)?|\b(?:does it|it does) mean\b|\bwhat happens?\b"
    r"|(?:\bca|\bwo|(?<=[a-z]))n['’]t\b|(?<=[A-Za-z])['’](?:s|ve|ll|re|d|m)\b",
    re.IGNORECASE,
)
"""The same in English, and what is left of shortened verbs and genitives."""
_OTHER_PHRASES = re.compile(
    "如何|怎么样?|怎樣|什么|什麼|哪里|哪裡|哪个|多少|是否|请问|請問|吗|嗎|呢"
    "|어떻게|무엇(?:을|이)?|언제|어디(?:서|에)?|얼마(?:나)?|누가|왜|합니까|입니까|인가요|하나요|할 수 있(?:나요|습니까)|되나요"
    r"|\b(?:как|что|где|когда|сколько|почему|кто|какой|какая|какие|можно|ли)\b"
    r"|\b(?:كيف|ماذا|ما|متى|أين|كم|لماذا|من|هل|يمكن|يمكنني)\b",
    re.IGNORECASE,
)
"""The same in Chinese, Korean, Russian and Arabic: texts in other languages are answered too."""

_AMOUNT = re.compile(
    r"いくら|いくつ|料金|金額|費用|価格|(?:何|なん)(?:円|人|個|回|件|時間|分|日間|年間|か月|ヶ月|歳|倍|%|パーセント|メートル|km)"
    r"|どのくらい|どれくらい|how (?:much|many|long|large|big|often|far)|\b(?:maximum|minimum|limit|price|cost)\b|上限|下限|最大|最小",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"いつ|(?:何|なん)(?:年|月|日|時|曜日|世紀)|when\b|what (?:year|date|time|day)|期限|期日", re.IGNORECASE
)
_REFERRING = re.compile(
    r"それ|その|これ|この|あれ|あの|そこ|さっき|先ほど|先程|同じ|では、|じゃあ|ほかに|他に|(?:は|なら|の場合)(?:どう)?[?？]?$"
    r"|\b(?:it|its|that|this|they|them|those|these|there|same|what about|how about|and for)\b",
    re.IGNORECASE,
)
_SHORT = 40
"""Characters up to which a question that refers to something may need the one before."""
_EARLIER_WEIGHT = 0.4


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question as the engine understands it."""

    text: str
    words: tuple[tuple[str, float], ...]
    """Index words with their weights, sorted; none where it says nothing that could be looked for."""
    telling: tuple[tuple[str, float], ...]
    """Index words with what each tells about whether a text answers, sorted."""
    terms: tuple[tuple[str, tuple[str, ...]], ...]
    """Words as the asker wrote them, each with its index words."""
    wants_amount: bool
    wants_time: bool


def understand(text: str, earlier: str = "") -> Question:
    """Return what `text` asks for. `earlier` is the question before: it counts where `text` refers to it."""
    folded = unicodedata.normalize("NFKC", text)
    meaningful = _meaningful(folded)
    weighted, telling = _weighted_words(folded), _telling(folded)
    if earlier and len(folded) <= _SHORT and _REFERRING.search(folded.strip()):
        before = unicodedata.normalize("NFKC", earlier)
        weighted = _lighter(_weighted_words(before)) | weighted
        telling = _lighter(_telling(before)) | telling
    return Question(
        text=text,
        words=tuple(sorted(weighted.items())),
        telling=tuple(sorted(telling.items())),
        terms=tuple((term, tuple(index_words(term))) for term in dict.fromkeys(terms(meaningful))),
        wants_amount=bool(_AMOUNT.search(folded)),
        wants_time=bool(_TIME.search(folded)),
    )


def _lighter(weights: dict[str, float]) -> dict[str, float]:
    return {word: _EARLIER_WEIGHT * weight for word, weight in weights.items()}


def _meaningful(folded: str) -> str:
    return _PHRASES.sub(" ", _ENGLISH_PHRASES.sub(" ", _OTHER_PHRASES.sub(" ", folded)))


def _telling(folded: str) -> dict[str, float]:
    return telling_weights(_meaningful(folded)) or telling_weights(folded)


def _weighted_words(folded: str) -> dict[str, float]:
    meaningful = _meaningful(folded)
    words = set(index_words(meaningful))
    guessed = dict.fromkeys(kana_words(meaningful), _KANA_WEIGHT)
    if not words and not guessed:
        words = set(index_words(folded))
    alone = set(_LONE_KANJI.findall(meaningful))
    return guessed | {word: _weight(word, alone) for word in words}


def _weight(word: str, alone: set[str]) -> float:
    if not is_single_kanji(word):
        return 1.0
    return _LONE_KANJI_WEIGHT if word in alone else _SINGLE_KANJI_WEIGHT
