"""Titles and summaries out of a text's own words."""

from __future__ import annotations

import re

TITLE = 40
SUMMARY = 160
_MARKUP = re.compile(r"<[^>\n]*>|\]\([^)\n]*\)|[\[\]\\<>`]|^[\s#*>|・+-]+|[\s*|]+$|\*\*|__")
"""Tags, addresses of links, emphasis, bullets."""
_HALF_WORD = re.compile(r"[\w.,:/@-]*\Z", re.ASCII)
_WIDE = re.compile(r"[ぁ-ヿ一-龥]")


def titled(heading: str, body: str, limit: int = SUMMARY) -> tuple[str, str]:
    """Return a title and a summary of a text, both from its own words."""
    lines = _lines(body, limit) or [_bare(heading) or "?"]
    return shortened(_bare(heading) or lines[0], TITLE), shortened(" ".join(lines), limit)


def _lines(body: str, limit: int) -> list[str]:
    """As many lines with words as a summary needs; of a Japanese text only those that have some Japanese."""
    wide = (len(body.encode("utf-8", "surrogatepass")) - len(body)) // 2
    is_wide = 3 * wide > len(body) - body.count(" ")
    lines: list[str] = []
    for line in body.splitlines():
        if (not is_wide or _WIDE.search(line)) and (bare := _bare(line)):
            lines.append(bare)
            limit -= len(bare)
        if limit < 0:
            break
    return lines


def shortened(words: str, limit: int) -> str:
    """Cut words at a limit, never within a number, a Latin word or an address."""
    if len(words) <= limit:
        return words
    cut = words[:limit]
    return (_HALF_WORD.sub("", cut) or cut).strip()


def has_japanese(words: str) -> bool:
    return _WIDE.search(words) is not None


def _bare(line: str) -> str:
    bare = _MARKUP.sub("", line).strip()
    return bare if any(map(str.isalnum, bare)) else ""
