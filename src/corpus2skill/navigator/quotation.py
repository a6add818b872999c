"""What an answer gives as quoted, held word for word against the leaves read. No model is asked.

**What is a quotation.** What stands in 「」, 『』, “” or "", is 12 characters or longer, and is not inside
another quotation. A straight quote opens where no Latin letter or digit stands before it (6" is an inch), and no
quotation goes beyond its paragraph.

**When it holds.** When it stands in the original text of one leaf; title and summary of a leaf are not the
original's. Both sides are folded first:

- Unicode NFKC: width of characters, ligatures, radicals; characters that show nothing are dropped;
- white space: none beside a Japanese character, where lines may have been wrapped, and one blank elsewhere;
- quotes are all one, because a quotation's own inner ones are written differently; so are dashes;
- what only Markdown means is dropped: emphasis (`*`, backtick), targets of links, backslashes before signs, borders
  of table cells (` / ` is one as well, by which rows are often told), and the marks of headings, lists and quotes at
  the head of a line.

Case counts. Punctuation at either end of a quotation does not: "like this," belongs to the sentence around it.
An ellipsis (…, ..., （中略）, [...]) or a line's end parts it, as between a table's head and one of its rows: the
parts must stand in one leaf, in their order.

**What is none.** The name of a node, of a document or of a place in it is often put into the same brackets, and
so are the asker's own words. These are names: they hold, in no leaf.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping

from corpus2skill.domain.run import Quotation

SHORTEST = 12
"""Characters. Shorter ones are words that are talked of: a button, a term."""

_CLOSERS = {"「": "」", "『": "』", "“": "”", '"': '"'}
_WIDE = "\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef\U00020000-\U0003ffff"
"""Kana, ideographs and their punctuation: no word ends with a space there."""
_WIDE_CHARACTER = re.compile(f"[{_WIDE}]")
_SPACES = re.compile(r"\s+")
_LINK = re.compile(r"!?\[([^\[\]]*)\]\([^()\s]*\)")
_LINE_MARK = re.compile(r"^\s*(?:#{1,6}|[-+>])\s+", re.MULTILINE)
_UNSHOWN = re.compile("[\u00ad\u200b-\u200f\u2060-\u2064\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef*`]")
_QUOTES = re.compile('[「」『』“”„‟‘’‚‛〝〞〟"]')
_DASHES = re.compile("[‐‑‒–—―−⸺]")
_WAVES = re.compile("[〜∼]")
_ESCAPE = re.compile(r"\\(?=[!-/:-@\[-`{-~])")
_CELL_BORDER = re.compile(r"\||\s/\s")
_ELLIPSIS = re.compile(r"[\[(]\s*(?:\.{2,}|⋯+|中?略)\s*[\])]|\.{2,}|⋯+|・{2,}|。{2,}")
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n")
_END_MARKS = " .,;:!?。、'"


def check_quotations(
    answer: str, texts: Mapping[str, str], names: Iterable[str] = (), question: str = ""
) -> tuple[Quotation, ...]:
    """Return the quotations of `answer`, each once, with a leaf of `texts` (by doc id) it stands in."""
    read = _Read(texts, names, question)
    return tuple(read.checked(text) for text in dict.fromkeys(quoted_in(answer)))


def quoted_in(answer: str) -> Iterator[str]:
    """Yield what stands in the outermost quotes of `answer`, where it is long enough to be a quotation."""
    for paragraph in _PARAGRAPH_END.split(answer):
        end = -1
        for opened, closed in sorted(_pairs(paragraph), key=lambda pair: pair[0]):
            text = paragraph[opened + 1 : closed].strip()
            if opened > end:
                end = closed
                if len(unicodedata.normalize("NFKC", text)) >= SHORTEST:
                    yield text


def _pairs(text: str) -> Iterator[tuple[int, int]]:
    """Yield where quotes open and close, nested ones too; what is never closed is passed over."""
    opened: list[tuple[int, str]] = []
    for at, char in enumerate(text):
        level = next((depth for depth in range(len(opened) - 1, -1, -1) if opened[depth][1] == char), None)
        if level is not None:
            yield opened[level][0], at
            del opened[level:]
        elif char in _CLOSERS and _may_open(text, at):
            opened.append((at, _CLOSERS[char]))


def _may_open(text: str, at: int) -> bool:
    if text[at] != '"':
        return True
    before, after = text[max(at - 1, 0) : at], text[at + 1 : at + 2]
    return not (before.isascii() and before.isalnum()) and bool(after.strip())


class _Read:
    """What quotations are held against; folded when that is needed, which most true ones do not."""

    def __init__(self, texts: Mapping[str, str], names: Iterable[str], question: str) -> None:
        self._texts = texts
        self._names = tuple(names)
        self._question = question
        self._folded: dict[str, str] = {}

    def checked(self, text: str) -> Quotation:
        doc_id = next((doc_id for doc_id, leaf in self._texts.items() if text in leaf), None)
        if doc_id is not None:
            return Quotation(text=text, doc_id=doc_id)
        parts = _parts(text)
        doc_id = next((name for name in self._texts if _stands_in(parts, self._leaf(name))), None)
        return Quotation(text=text, doc_id=doc_id, is_name=doc_id is None and self._is_name(parts))

    def _leaf(self, doc_id: str) -> str:
        if doc_id not in self._folded:
            self._folded[doc_id] = _folded(self._texts[doc_id])
        return self._folded[doc_id]

    def _is_name(self, parts: tuple[str, ...]) -> bool:
        if _stands_in(parts, _folded(self._question)):
            return True
        return any(" ".join(parts) == _folded(name).strip(_END_MARKS) for name in self._names)


def _parts(text: str) -> tuple[str, ...]:
    """The pieces between ellipses and line ends, folded, without the punctuation at their ends."""
    lines = map(_folded, text.split("\n"))
    pieces = (piece.strip(_END_MARKS) for line in lines for piece in _ELLIPSIS.split(line))
    return tuple(piece for piece in pieces if piece)


def _stands_in(parts: tuple[str, ...], text: str) -> bool:
    """True where all of `parts` stand in `text`, one behind the other."""
    at = 0
    for part in parts:
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return bool(parts)


def _folded(text: str) -> str:
    plain = _LINE_MARK.sub("", _LINK.sub(r"\1", unicodedata.normalize("NFKC", text)))
    shown = _CELL_BORDER.sub(" ", _ESCAPE.sub("", _UNSHOWN.sub("", plain)))
    alike = _WAVES.sub("~", _DASHES.sub("-", _QUOTES.sub("'", shown)))
    return _SPACES.sub(_space, alike).strip()


def _space(found: re.Match[str]) -> str:
    """What stands for white space: nothing beside a Japanese character."""
    text, start, end = found.string, found.start(), found.end()
    is_beside_wide = any(map(_WIDE_CHARACTER.match, (text[start - 1 : start], text[end : end + 1])))
    return "" if is_beside_wide else " "
