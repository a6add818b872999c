"""Markdown: the text stays as it is; headings, code fences and pipe tables are noted."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.text_builder import require_characters
from corpus2skill.adapters.extract.text_encoding import decoded
from corpus2skill.adapters.extract.text_shape import normalised
from corpus2skill.domain.corpus import ExtractedText, Heading, Region

_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?)^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL | re.MULTILINE)
_FRONT_TITLE = re.compile(r"^title:[ \t]*(.+)$", re.MULTILINE)
_ATX = re.compile(r" {0,3}(#{1,6})(?:[ \t　]+(.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(=+|-+)$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`]*)$")
_RULE = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(\|[ \t]*:?-+:?[ \t]*)*\|?$")
_BLOCK_START = re.compile(r" {0,3}([-*+>|]|[0-9]+[.)])(\s|$)| {4}")
_LONGEST_HEADING = 1000
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_EMPHASIS = re.compile(r"(\*\*|__|`|~~)(.+?)\1")


def extract_markdown(data: bytes, limits: Limits) -> ExtractedText:
    """Return a .md file's text without its front matter.

    Raises:
        SourceRefused: `undecodable` or `too_large`.
    """
    text = normalised(decoded(data))
    title = None
    if front := _FRONT_MATTER.match(text):
        title = _front_title(front.group(1))
        text = text[front.end() :].strip("\n")
    require_characters(len(text), limits.max_characters)
    headings, regions = _shape(text)
    return ExtractedText(
        text=text, title=title or _first_title(headings), headings=tuple(headings), regions=tuple(regions)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    start: int
    text: str

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def _front_title(front: str) -> str | None:
    found = _FRONT_TITLE.search(front)
    return (found.group(1).strip().strip("\"'").strip() or None) if found else None


def _first_title(headings: list[Heading]) -> str | None:
    """A document with one heading of the first level, at its head, has that for a title."""
    firsts = [heading for heading in headings if heading.level == 1]
    return firsts[0].title if len(firsts) == 1 and headings[0] is firsts[0] else None


def _shape(text: str) -> tuple[list[Heading], list[Region]]:
    lines = list(_lines(text))
    headings: list[Heading] = []
    regions: list[Region] = []
    at = 0
    while at < len(lines):
        after = _fence_end(lines, at) or _table_end(lines, at)
        if after:
            regions.append(_region(lines[at:after]))
            at = after
            continue
        if heading := _heading(lines, at):
            headings.append(heading)
        at += 1
    return headings, regions


def _lines(text: str) -> Iterator[_Line]:
    start = 0
    for line in text.split("\n"):
        yield _Line(start=start, text=line)
        start += len(line) + 1


def _fence_end(lines: list[_Line], at: int) -> int | None:
    """Return the number of the line after a fenced block that begins at `at`; an open fence runs to the end."""
    opening = _FENCE.match(lines[at].text)
    if not opening:
        return None
    fence = opening.group(1)
    closing = re.compile(rf" {{0,3}}{re.escape(fence[0])}{{{len(fence)},}}$")
    for number in range(at + 1, len(lines)):
        if closing.match(lines[number].text):
            return number + 1
    return len(lines)


def _table_end(lines: list[_Line], at: int) -> int | None:
    if at + 1 >= len(lines) or "|" not in lines[at].text:
        return None
    rule = lines[at + 1].text
    if "-" not in rule or "|" not in rule or not _RULE.match(rule):
        return None
    end = at + 2
    while end < len(lines) and "|" in lines[end].text:
        end += 1
    return end


def _region(lines: list[_Line]) -> Region:
    start, end = lines[0].start, lines[-1].end
    if _FENCE.match(lines[0].text):
        return Region(start=start, end=end, kind="code", header_end=start)
    return Region(start=start, end=end, kind="table", header_end=lines[1].end)


def _heading(lines: list[_Line], at: int) -> Heading | None:
    line = lines[at]
    if len(line.text) > _LONGEST_HEADING:
        return None
    if atx := _ATX.match(line.text):
        title = _plain(atx.group(2) or "")
        level = len(atx.group(1))
        return Heading(start=line.start, end=line.end, level=level, title=title) if title else None
    return _setext_heading(lines, at)


def _setext_heading(lines: list[_Line], at: int) -> Heading | None:
    """A heading underlined by the next line; its span takes the underline in."""
    line = lines[at]
    follows_text = at > 0 and bool(lines[at - 1].text.strip())
    if at + 1 >= len(lines) or follows_text or not line.text.strip() or _BLOCK_START.match(line.text):
        return None
    rule = _SETEXT.match(lines[at + 1].text)
    if not rule:
        return None
    level = 1 if rule.group(1)[0] == "=" else 2
    return Heading(start=line.start, end=lines[at + 1].end, level=level, title=_plain(line.text))


def _plain(title: str) -> str:
    """Return a heading's words without Markdown's marks."""
    title = _LINK.sub(r"\1", title)
    return " ".join(_EMPHASIS.sub(r"\2", title).split())
