"""Walks over a page and puts its blocks into a text."""

from __future__ import annotations

from lxml.html import HtmlElement

from corpus2skill.adapters.extract.html_parts import BLOCKS, HEADINGS, collapsed, is_left_out, text_of
from corpus2skill.adapters.extract.html_table import has_header, is_layout, table_rows
from corpus2skill.adapters.extract.numerals import numeral
from corpus2skill.adapters.extract.text_builder import TextBuilder

_LIST_STYLES = {"1": "decimal", "a": "lowerLetter", "A": "upperLetter", "i": "lowerRoman", "I": "upperRoman"}
_NOT_IN_A_LINE = ("table", "pre", *HEADINGS)


class PageReader:
    """Reads one page into a builder."""

    def __init__(self, builder: TextBuilder) -> None:
        self._builder = builder
        self._inline: list[str] = []

    def read(self, element: HtmlElement) -> None:
        self._children(element)
        self._flush()

    def _children(self, element: HtmlElement) -> None:
        self._inline.append(element.text or "")
        for inner in element:
            if not is_left_out(inner):
                self._element(inner)
            self._inline.append(inner.tail or "")

    def _element(self, element: HtmlElement) -> None:
        tag = str(element.tag)
        if tag == "br":
            self._inline.append("\v")
        elif tag not in BLOCKS:
            self._children(element)
        elif tag == "dd" and not _has_blocks(element):
            self._inline.append("\v")
            self._children(element)
        else:
            self._flush()
            self._block(element, tag)
            self._flush(keep=tag == "dt")

    def _block(self, element: HtmlElement, tag: str) -> None:
        if tag in HEADINGS:
            self._builder.heading(text_of(element), HEADINGS[tag])
        elif tag == "pre":
            self._builder.code("".join(element.itertext()))
        elif tag in {"ul", "ol"} and not any(True for _ in element.iter(*_NOT_IN_A_LINE)):
            self._builder.paragraph("\n".join(_list_lines(element, "")))
        elif tag == "table" and not is_layout(element):
            self._table(element)
        else:
            self._children(element)

    def _table(self, element: HtmlElement) -> None:
        caption = element.find("caption")
        if caption is not None:
            self._builder.paragraph(text_of(caption))
        self._builder.table(table_rows(element), has_header=has_header(element))

    def _flush(self, *, keep: bool = False) -> None:
        """Turn the words since the last block into a paragraph. `keep`: a term waits for its description."""
        if keep:
            return
        lines = collapsed("".join(self._inline)).split("\v")
        self._inline.clear()
        self._builder.paragraph("\n".join(line.strip(" ") for line in lines))


def _has_blocks(element: HtmlElement) -> bool:
    return any(inner.tag in BLOCKS for inner in element.iterdescendants())


def _list_lines(element: HtmlElement, indent: str) -> list[str]:
    """Return one line an item, those of lists inside it indented below."""
    lines = _stray_line(element.text, indent)
    number = _whole(element.get("start"), 1)
    for item in element:
        if item.tag in {"ul", "ol"} and not is_left_out(item):
            lines += _list_lines(item, f"{indent}  ")
        elif not is_left_out(item):
            number = _whole(item.get("value"), number)
            mark = f"{numeral(number, _style(element))}." if element.tag == "ol" else "-"
            lines += _item_lines(item, f"{indent}{mark} ")
            number += 1
        lines += _stray_line(item.tail, indent)
    return lines


def _stray_line(text: str | None, indent: str) -> list[str]:
    """Words that stand in a list and in none of its items are read all the same."""
    words = collapsed(text or "").strip()
    return [f"{indent}{words}"] if words else []


def _item_lines(item: HtmlElement, mark: str) -> list[str]:
    inner_lists = [inner for inner in item.iter("ul", "ol") if _nearest_item(inner) is item]
    words = _words_outside(item)
    indent = " " * (len(mark) - len(mark.lstrip(" ")) + 2)
    lines = [f"{mark}{words}"] if words else []
    for inner in inner_lists:
        lines += _list_lines(inner, indent)
    return lines


def _nearest_item(element: HtmlElement) -> HtmlElement | None:
    return next((above for above in element.iterancestors() if above.tag == "li"), None)


def _words_outside(item: HtmlElement) -> str:
    """Return the words of a list item without those of the lists inside it."""
    pieces: list[str] = [item.text or ""]
    for inner in item:
        if inner.tag not in {"ul", "ol"} and not is_left_out(inner):
            pieces.append(_words_outside(inner) if _has_list(inner) else _spaced(inner))
        pieces.append(inner.tail or "")
    return collapsed("".join(pieces)).strip()


def _spaced(element: HtmlElement) -> str:
    words = text_of(element)
    return f" {words} " if element.tag in BLOCKS or element.tag == "br" else _inline_text(element)


def _inline_text(element: HtmlElement) -> str:
    """Return inline words with the spaces at their edges, which part them from their neighbours."""
    raw = "".join(element.itertext())
    before, after = (" " if raw[:1].isspace() else ""), (" " if raw[-1:].isspace() else "")
    return f"{before}{text_of(element)}{after}"


def _has_list(element: HtmlElement) -> bool:
    return any(True for _ in element.iterdescendants("ul", "ol"))


def _style(element: HtmlElement) -> str:
    return _LIST_STYLES.get(element.get("type", "1"), "decimal")


def _whole(value: str | None, default: int) -> int:
    try:
        return int(value) if value else default
    except ValueError:
        return default
