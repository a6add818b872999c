"""Slips in writing JSON that can be read in one way only, put right outside of strings."""

from __future__ import annotations

import json
import re

_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?'
_SIGNS = re.compile(
    rf"""
      (?P<string>{_STRING})
    | “(?P<curly>[^“”"\\]*+)”
    | ＂(?P<wide>[^＂"\\]*+)＂
    | (?P<before>[\{{\[,:｛［，：]\s*+)'(?P<single>[^'"\\\n{{}}]*+(?:\\['"/\\nt][^'"\\\n{{}}]*+)*+)'(?=\s*+[,:\}}\]，：｝］])
    | (?P<comment>//[^\n]*+|/\*[^*]*+\*/)
    | (?P<sign>[｛｝［］：，])
    """,
    re.VERBOSE | re.DOTALL,
)
_ORDER = re.compile(
    rf"(?P<string>{_STRING})|(?P<comma>,)(?=\s*+[}}\]])|(?P<opening>[{{,]\s*+)(?P<key>[A-Za-z_]\w*+)(?=\s*+:)",
    re.DOTALL,
)
_NARROW = str.maketrans("｛｝［］：，", "{}[]:,")


def tolerated(text: str) -> str:
    """Return `text` with these made good: comments, a comma before a closing bracket, keys without quotes,
    single, curly and full-width quotation marks around strings, full-width signs between them.

    A string in double quotes stays as it is, one that never ends too: what is cut stays cut.
    """
    return _ORDER.sub(_ordered, _SIGNS.sub(_as_json, text))


def _as_json(match: re.Match[str]) -> str:
    if match["string"] is not None:
        return match["string"]
    if match["single"] is not None:
        return match["before"].translate(_NARROW) + _requoted(match["single"])
    if match["sign"] is not None:
        return match["sign"].translate(_NARROW)
    words = match["curly"] if match["curly"] is not None else match["wide"]
    return "" if words is None else json.dumps(words, ensure_ascii=False)


def _requoted(words: str) -> str:
    """A string in single quotes as one in double quotes; its escapes are JSON's but for the quote's own."""
    return '"' + words.replace("\\'", "'") + '"'


def _ordered(match: re.Match[str]) -> str:
    if match["string"] is not None:
        return match["string"]
    if match["comma"] is not None:
        return ""
    return f'{match["opening"]}"{match["key"]}"'
