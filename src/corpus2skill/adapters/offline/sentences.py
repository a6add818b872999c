"""Cuts a text into sentences, headings, list lines and table rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from corpus2skill.adapters.offline.shortening import one_line

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
_CELL = re.compile(r"\s*\|\s*|\t")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A piece of text in one line, without markup."""

    text: str
    kind: SentenceKind
    level: int = 0
    """Of a heading: 1 is the outermost; 0 where it does not say."""


def sentences(text: str) -> Iterator[Sentence]:
    """Yield the pieces of `text` in order. A paragraph's wrapped lines are one text."""
    paragraph: list[str] = []
    is_code = False
    for line in (*text.split("\n"), ""):
        stripped = line.strip()
        is_fence = stripped.startswith(("```", "~~~"))
        piece = Sentence(one_line(line), "code") if is_code or is_fence else _own_line(stripped)
        is_code ^= is_fence
        if stripped and piece is None:
            paragraph.append(stripped)
            continue
        yield from _of_paragraph(paragraph)
        paragraph = []
        if piece is not None and piece.text and not is_fence:
            yield piece


def plain(text: str) -> str:
    """Return `text` in one line without the signs of Markdown and HTML."""
    return one_line(_MARKUP.sub("", _LINK.sub(r"\1", text)))


def _own_line(line: str) -> Sentence | None:
    """The piece that a line is by itself (empty for a rule), or None for a part of a paragraph."""
    if not line:
        return None
    if _RULE.match(line):
        return Sentence("", "code")
    heading = _HEADING.match(line)
    if heading:
        title = next(group for group in heading.groups() if group)
        return Sentence(plain(title), "heading", len(line) - len(line.lstrip("#")))
    if line.startswith("|") or line.count("\t") or line.count("|") > 1:
        cells = [plain(cell) for cell in _CELL.split(line)]
        return Sentence(" / ".join(cell for cell in cells if cell), "row")
    item = _ITEM.match(line)
    if item:
        return Sentence(plain(item["item"]), "item")
    return None


def _of_paragraph(lines: list[str]) -> Iterator[Sentence]:
    if not lines:
        return
    text = plain(_joined(lines))
    start = 0
    for match in _END.finditer(text):
        if _ABBREVIATION.search(text[start : match.end()]):
            continue
        yield Sentence(text[start : match.end()].strip(), "sentence")
        start = match.end()
    rest = text[start:].strip()
    if rest:
        yield Sentence(rest, "sentence")


def _joined(lines: list[str]) -> str:
    """Lines of Japanese are joined without a space, others with one."""
    joined = ""
    for line in lines:
        is_wide = joined and not joined[-1].isascii() and not line[:1].isascii() and joined[-1] > "\u2e7f"
        joined += line if not joined or is_wide else f" {line}"
    return joined
