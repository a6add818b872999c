"""What a model's title and summary must be before they are believed."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from corpus2skill.compiler.plain_title import has_strange_characters, path_piece
from corpus2skill.compiler.prompt import prompt_text
from corpus2skill.compiler.stated_numbers import numbers_not_in
from corpus2skill.compiler.summary_call import choices_lead, language_of, source_text
from corpus2skill.domain.chunk import SUMMARY_LIMIT, TITLE_LIMIT, Chunk, ChunkSummary
from corpus2skill.domain.shortening import one_line, shortened
from corpus2skill.errors import BadReply

_ADDRESS = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]*://[!-~]+|(?i:www\.|mailto:|javascript:|data:)[!-~]+|[\w.+-]+@[A-Za-z0-9.-]+"
    r"|(?<![A-Za-z0-9_.-])[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*\.[a-z]{2,10}(?![A-Za-z0-9])"
    r"|doc_chunk_\d+",
    re.ASCII,
)
"""URLs, mail addresses, names of hosts and files, ids of leaves."""
_SIGNS_OF_ADDRESSES = frozenset(".:@_")
"""Each of them has at least one of these."""
_LINK = re.compile(
    r"!?\[[^\]]*\][(\[]|<(?:/|!--|(?:a|b|br|div|form|h[1-6]|i|iframe|img|input|li|link|meta|p|script|span|style|svg"
    r"|table|td|tr|u|ul)\b)[^>]*>?",
    re.IGNORECASE,
)
"""Links of Markdown, elements of HTML."""
_MARKUP = re.compile(r"\*\*|__(?=\S)|(?<=\S)__|^\s*(?:#{1,6}|[-*>])\s+")
_PLACEHOLDERS = frozenset(
    {"title", "summary", "string", "text", "n/a", "none", "null", "見出し", "要約", "なし"}
)
_SHORTEST_ECHO = 12
_OWN_SHARE = 0.5
"""Pairs of letters that a text shares with its source, above which it can be no echo of the prompt."""

_SAMPLE = 400
_WIDE = 2
"""Weight of a character of scripts that write a word in one or two."""
_MAIN = 0.5
_SOME = 0.2
_TRACE = 0.1
"""Shares of a script in a text."""


def faults_of(title: str, summary: str, chunk: Chunk) -> Iterator[BadReply]:
    """Yield what is wrong with the title and summary that a model wrote for `chunk`."""
    source = source_text(chunk).replace("\\", "")  # `2\.1` and `a\_b` are how Markdown writes 2.1 and a_b
    limits = {"title": TITLE_LIMIT, "summary": SUMMARY_LIMIT - len(choices_lead(chunk))}
    plain = {"title": _tidied(title, source), "summary": _tidied(summary, source)}
    for key, raw in (("title", title), ("summary", summary)):
        if _says_nothing(plain[key]):
            yield BadReply("summary_empty", key=key)
        elif len(plain[key]) > limits[key]:
            yield BadReply("summary_too_long", key=key, length=len(plain[key]), limit=limits[key])
        if _is_echo(plain[key], chunk, source):
            yield BadReply("summary_echo", key=key)
        if has_strange_characters(raw, source):
            yield BadReply("summary_characters", key=key)
    if path_piece(plain["title"], source):
        yield BadReply("title_path", title=plain["title"][:TITLE_LIMIT])
    both = "\n".join(plain.values())
    if not is_in_language_of(both, source):
        yield BadReply("summary_language")
    link = _foreign_link(both, source)
    if link:
        yield BadReply("summary_link", text=link)
    numbers = numbers_not_in(both, source)
    if numbers:
        yield BadReply("summary_numbers", numbers=", ".join(numbers))


def finished(title: str, summary: str, chunk: Chunk) -> ChunkSummary:
    """Return title and summary in their form: one line, cut where too long, bare choices named as such."""
    source, lead = source_text(chunk), choices_lead(chunk)
    told = one_line(_tidied(summary, source))
    if lead and not told.startswith(lead.strip()):
        told = lead + told
    return ChunkSummary(
        title=shortened(one_line(_tidied(title, source)), TITLE_LIMIT).removesuffix("。"),
        summary=shortened(told, SUMMARY_LIMIT),
    )


def is_in_language_of(text: str, source: str) -> bool:
    """True unless the scripts of `text` and `source` say that it was written in another language."""
    theirs, ours = _script_shares(source), _script_shares(text)
    if not theirs or not ours:
        return True
    is_kept = all(ours.get(script, 0) >= _SOME for script, share in theirs.items() if share >= _MAIN)
    is_own = all(theirs.get(script, 0) >= _TRACE for script, share in ours.items() if share >= _MAIN)
    return is_kept and is_own


def _script_shares(text: str) -> dict[str, float]:
    """Script to its share of the letters of `text`, a wide letter counted as two; of a sample where it is long."""
    letters = Counter(map(_script, text[:: len(text) // _SAMPLE + 1]))
    weights = {
        script: times * (_WIDE if script in {"han", "hangul"} else 1)
        for script, times in letters.items()
        if script
    }
    total = sum(weights.values())
    return {script: weight / total for script, weight in weights.items()}


@lru_cache(maxsize=20_000)
def _script(letter: str) -> str:
    """The script of a letter: `han` for kanji and kana alike, else the first word of its Unicode name."""
    if not letter.isalpha():
        return ""
    name = unicodedata.name(unicodedata.normalize("NFKC", letter)[:1], "").split()
    first = name[0].split("-")[0].lower() if name else ""
    return "han" if first in {"cjk", "hiragana", "katakana", "ideographic"} else first


def _tidied(text: str, source: str) -> str:
    """Return `text` in one line and without emphasis marks that the source does not have."""
    plain = _MARKUP.sub(lambda match: match[0] if match[0].strip() in source else "", " ".join(text.split()))
    return plain.strip()


def _says_nothing(text: str) -> bool:
    folded = unicodedata.normalize("NFKC", text).strip(" 。.\"'「」<>[]").casefold()
    return folded in _PLACEHOLDERS or not any(map(str.isalnum, folded))


def _is_echo(text: str, chunk: Chunk, source: str) -> bool:
    """True for words of the instructions that have little to do with the source."""
    if len(text) < _SHORTEST_ECHO or text not in prompt_text(language_of(chunk), "summarize"):
        return False
    pairs = {text[at : at + 2] for at in range(len(text) - 1)}
    return sum(pair in source for pair in pairs) < len(pairs) * _OWN_SHARE


def _foreign_link(text: str, source: str) -> str:
    """The first link, or address that the source does not have; "" where there is none.

    A link is a fault even where the source has it: a summary is plain text.
    """
    plain = unicodedata.normalize("NFKC", text)
    if (link := _LINK.search(plain)) is not None:
        return link[0][:60]
    if not _SIGNS_OF_ADDRESSES.intersection(plain):
        return ""
    known = unicodedata.normalize("NFKC", source).casefold()
    addresses = (match[0].rstrip(".,;:!?)]}'\"") for match in _ADDRESS.finditer(plain))
    return next((found[:60] for found in addresses if found.casefold() not in known), "")
