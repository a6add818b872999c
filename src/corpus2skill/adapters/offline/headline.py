"""The title of a chunk: its heading, its question, or its first words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from corpus2skill.adapters.offline.sentences import Sentence, plain
from corpus2skill.domain.chunk import TITLE_LIMIT, Chunk
from corpus2skill.domain.language import detect_language
from corpus2skill.domain.shortening import one_line, shortened
from corpus2skill.messages import message

_QUESTION = re.compile(
    r"(?:Q\s*\d*|問\s*\d*|質問\s*\d*|ご質問)\s*[.．:：、)）\]】]\s*(?P<question>\S.*)|(?P<bare>\S.{3,}[?？])$",
    re.IGNORECASE,
)
_QUESTION_HEADING = re.compile(r"(?:Q\s*\d*|質問|ご質問|問|question)\s*\d*[.．:：]?", re.IGNORECASE)
_GENERAL = frozenset(
    re.findall(
        r"\S+",
        """
    概要 はじめに 目的 例 使用例 注意 注意事項 備考 補足 その他 手順 前提 前提条件 まとめ 定義 詳細 説明 回答 答え 解説 内容 条件 対象 方法 注 overview
    introduction example examples note notes summary prerequisites procedure steps description
    details syntax parameters usage limitations troubleshooting topics response request errors
    answer other general
    """,
    )
)
"""Headings that say nothing without the one above them."""
_NUMBER = re.compile(
    r"第?[\d一二三四五六七八九十百]+[項号款目]?(?:の[\d一二三四五六七八九十]+)?|[（(]?\w{1,2}[)）.．]?|(?:step|ステップ|手順)\s*\d+",
    re.IGNORECASE,
)
"""A number of a section: as little by itself."""
_JOIN = ": "
_LEAST_PHRASE = 12
"""Characters that must be left for what tells a chunk from others under the same heading."""


def title_of(chunk: Chunk, pieces: Sequence[Sentence]) -> str:
    """Return the title of `chunk`, whose text is `pieces`: one line, 1 to 40 characters."""
    return _title(chunk, pieces) or _last_resort(chunk)


def _title(chunk: Chunk, pieces: Sequence[Sentence]) -> str:
    """The title, "" for a text without a word in it."""
    heading = _heading(chunk, pieces)
    question = _question(pieces, heading)
    if question:
        return _ended(question)
    if not heading:
        return _ended(_first_words(pieces))
    if _begins_with(pieces, heading):
        return _ended(heading)
    return _told_apart(heading, pieces)


def _heading(chunk: Chunk, pieces: Sequence[Sentence]) -> str:
    """The heading nearest above or inside the chunk, with the one over it where it says nothing alone."""
    path = [title for title in map(plain, chunk.place.headings) if title]
    if pieces and pieces[0].kind == "heading" and pieces[0].text not in path:
        path.append(pieces[0].text)
    if not path:
        return next((piece.text for piece in pieces if piece.kind == "heading"), "")
    if len(path) > 1 and (path[-1].lower() in _GENERAL or _NUMBER.fullmatch(path[-1])):
        return _joined(path[-2], path[-1])
    return path[-1]


def _question(pieces: Sequence[Sentence], heading: str) -> str:
    """The question that a chunk of a FAQ begins with, "" where it begins otherwise."""
    for number, piece in enumerate(pieces[:3]):
        text = piece.text
        if piece.kind == "heading" and _QUESTION_HEADING.fullmatch(text):
            return next((after.text for after in pieces[number + 1 :] if after.kind != "heading"), "")
        match = _QUESTION.match(text)
        if match:
            return match["question"] or (text if piece.kind == "heading" or not heading else "")
        if piece.kind != "heading":
            return ""
    return ""


def _begins_with(pieces: Sequence[Sentence], heading: str) -> bool:
    """True where the chunk holds the beginning of the section that `heading` names."""
    text = _squeezed(heading)
    return any(
        piece.kind == "heading" and text.endswith(_squeezed(piece.text)) for piece in pieces[:4]
    ) or bool(pieces and _squeezed(pieces[0].text).startswith(text))


def _told_apart(heading: str, pieces: Sequence[Sentence]) -> str:
    """`heading: what is special here`, for a chunk in the middle of a section."""
    inner = next((piece.text for piece in pieces if piece.kind == "heading"), "")
    phrase = inner or _first_words(pieces)
    return _joined(heading, phrase) if phrase else _ended(heading)


def _joined(first: str, second: str) -> str:
    room = TITLE_LIMIT - len(_JOIN)
    tail_room = max(room - len(first), _LEAST_PHRASE, room // 2 if len(second) > room // 2 else 0)
    tail = shortened(_unstopped(second), tail_room)
    return shortened(first, room - len(tail)) + _JOIN + tail


def _first_words(pieces: Sequence[Sentence]) -> str:
    """The first piece that says something, prose before lists, lists before code."""
    for kinds in (("sentence", "item", "row"), ("heading",), ("code",)):
        for piece in pieces:
            if piece.kind in kinds and sum(map(str.isalnum, piece.text)) >= 2:
                return piece.text
    return ""


def _ended(text: str) -> str:
    return _unstopped(shortened(one_line(text), TITLE_LIMIT))


def _unstopped(text: str) -> str:
    is_stopped = text.endswith(("。", "．")) or (text.endswith(".") and not text.endswith(".."))
    return text[:-1].rstrip() if is_stopped else text


def _last_resort(chunk: Chunk) -> str:
    """For a text without a word in it."""
    signs = shortened(one_line(chunk.text), TITLE_LIMIT)
    return signs or message(detect_language(chunk.text), "offline.no_words")


def _squeezed(text: str) -> str:
    return "".join(unicodedata.normalize("NFKC", text).split()).lower()
