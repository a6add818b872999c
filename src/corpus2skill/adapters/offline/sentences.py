"""Cuts a text into sentences, headings, list lines and table rows."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from corpus2skill.domain.shortening import one_line

SentenceKind = Literal["code", "heading", "item", "row", "sentence"]

_END = re.compile(
    r"[。！？](?:[」』）)\]】\"'”’]*)"
    r"|[.!?؟।](?:[)\]\"'”’*_]*)(?=\s+[^\sa-z]|$)"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|cf|Mr|Mrs|Ms|Dr|No|Fig|approx|Inc|Ltd|Co|St)|\b[A-Z]|^\d+)\.$"
)
_HEADING = re.compile(
    r"#{1,6}\s+(?P<marked>.+?)\s*#*$"
    r"|(?P<numbered>第[0-9０-９一二三四五六七八九十百]+[章節条編款項部](?:の[0-9０-９一二三四五六七八九十]+)?(?:\s*[（(][^）)]*[）)]|\s+\S.{0,40})?)$"
    r"|【(?P<bracketed>[^】]{1,60})】$|■\s*(?P<square>\S.{0,60})$"
)
_ITEM = re.compile(
    r"(?:[-*+•・●○◆◇□▪–]\s+|[（(]?(?:\d{1,2}|[a-zA-Z])[)）.．]\s+|[①-⑳]\s*|[・●○◆◇]\s*)(?P<item>\S.*)"
)
_RULE = re.compile(r"[\s|:\-–—=_*+~.]+$|<[^>]*>$|!\[[^\]]*\]\([^)]*\)$")
_MARKUP = re.compile(r"<[^<>]{1,200}>|(?<!\w)[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}(?!\w)|\\(?=[\W_])")
_LINK = re.compile(r"!?\[([^\]]*)\]\((?:[^()\s]|\([^()]*\))*\)")
_WIDE = re.compile("[\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uffef]")
_HEADING_LENGTH = 40
_SHORTEST_WRAPPED = 16
"""Characters that a line has at least which goes on in the next without a space."""
_SAYS_SOMETHING = re.compile(r"[。！？.!?؟।:：;,、\d]")
"""Signs and figures that a heading without a mark does not have."""
_BRACKETS = ("（）", "「」", "()", "『』")
_LONGEST_BRACKET = 200
"""Characters after which a bracket that did not close is taken for a slip."""
_HAS_SIGNS = re.compile(r"[<*_`\\\[]")
_CELL = re.compile(r"\s*\|\s*|\t")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A piece of text in one line, without markup."""

    text: str
    kind: SentenceKind
    level: int = 0
    """Of a heading: 1 is the outermost; 0 where it does not say."""
    block: int = 0
    """Number of the line or paragraph; sentences of one block stand together in the text."""


def sentences(text: str, headings: Iterable[str] = ()) -> Iterator[Sentence]:
    """Yield the pieces of `text` in order. A paragraph's wrapped lines are one text.

    A line that is one of `headings` is a heading, whatever it looks like.
    """
    known = {plain(heading) for heading in headings}
    paragraph: list[str] = []
    is_code = False
    for number, line in enumerate((*text.split("\n"), "")):
        stripped = line.strip()
        is_fence = stripped.startswith(("```", "~~~"))
        piece = Sentence(one_line(line), "code") if is_code or is_fence else _own_line(stripped, known)
        is_code ^= is_fence
        if stripped and piece is None:
            if paragraph and _is_apart(paragraph[-1], stripped):
                yield from _of_paragraph(paragraph, number - 1)
                paragraph = []
            paragraph.append(stripped)
            continue
        yield from _of_paragraph(paragraph, number - 1)
        paragraph = []
        if piece is not None and piece.text and not is_fence:
            yield Sentence(piece.text, piece.kind, piece.level, number)


def plain(text: str) -> str:
    """Return `text` in one line without the signs of Markdown and HTML."""
    if _HAS_SIGNS.search(text):
        text = _MARKUP.sub("", _LINK.sub(r"\1", text))
    return one_line(text)


def joint(before: str, after: str) -> str:
    """Return what parts two pieces of text: nothing where either side is written without spaces."""
    return "" if not before or _WIDE.match(before[-1]) or _WIDE.match(after[:1]) else " "


def parted(before: str, after: str) -> str:
    """Return what keeps two pieces of text apart that do not follow each other in the text."""
    if not before:
        return ""
    return "; " if joint(before, after) else "。"


def cells(row: str) -> str:
    """Return the cells of a table's row in one line."""
    return " / ".join(cell for cell in map(plain, _CELL.split(row)) if cell)


def _own_line(line: str, known: Container[str]) -> Sentence | None:
    """The piece that a line is by itself (empty for a rule), or None for a part of a paragraph."""
    if not line:
        return None
    if _RULE.match(line):
        return Sentence("", "code")
    heading = _HEADING.match(line)
    if heading:
        title = next(group for group in heading.groups() if group)
        return Sentence(plain(title), "heading", len(line) - len(line.lstrip("#")))
    if line in known:
        return Sentence(line, "heading")
    if line.startswith("|") or line.count("\t") or line.count("|") > 1:
        return Sentence(cells(line), "row")
    item = _ITEM.match(line)
    if item:
        return Sentence(plain(item["item"]), "item")
    return None


def _is_apart(line: str, after: str) -> bool:
    """True where a line was not wrapped but ended: glued to the next it would make a word that is in no text."""
    is_wide = _WIDE.match(line[-1]) and (_WIDE.match(after) or not _SAYS_SOMETHING.search(line))
    return bool(is_wide) and len(line) < _SHORTEST_WRAPPED and not line.endswith(("、", "，"))


def _of_paragraph(lines: list[str], block: int) -> Iterator[Sentence]:
    if not lines:
        return
    text = plain(_joined(lines))
    if not text:
        return
    if len(lines) == 1 and len(text) <= _HEADING_LENGTH and not _SAYS_SOMETHING.search(text):
        yield Sentence(text, "heading", block=block)
        return
    start = 0
    for match in _END.finditer(text):
        if _ABBREVIATION.search(text[start : match.end()]) or _is_inside_brackets(text, start, match.start()):
            continue
        yield Sentence(text[start : match.end()].strip(), "sentence", block=block)
        start = match.end()
    rest = text[start:].strip()
    if rest:
        yield Sentence(rest, "sentence", block=block)


def _is_inside_brackets(text: str, start: int, at: int) -> bool:
    """True where a bracket that opened behind `start` closes soon after `at`."""
    for opening, closing in _BRACKETS:
        if text.count(opening, start, at) > text.count(closing, start, at):
            return text.find(closing, at, at + _LONGEST_BRACKET) >= 0
    return False


def _joined(lines: list[str]) -> str:
    """Put wrapped lines together, without a space only between two characters that are written without."""
    joined = ""
    for line in lines:
        is_wide = joined and _WIDE.match(joined[-1]) and _WIDE.match(line)
        joined += line if not joined or is_wide else f" {line}"
    return joined
