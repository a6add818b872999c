"""Word: the body in its order with computed numbers, headings, tables, text boxes and notes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from corpus2skill.adapters.extract.docx_numbering import Numbering, joined
from corpus2skill.adapters.extract.docx_package import Package
from corpus2skill.adapters.extract.docx_runs import Words, chosen, words_of
from corpus2skill.adapters.extract.docx_styles import ParagraphStyle, Styles
from corpus2skill.adapters.extract.docx_table import Row, cells_of, is_box, rows_of
from corpus2skill.adapters.extract.heading_patterns import LONGEST, heading_rank
from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.text_builder import TextBuilder
from corpus2skill.adapters.extract.text_shape import in_one_line, is_blank
from corpus2skill.adapters.extract.xml_element import Element, child, is_on, local, value, whole
from corpus2skill.domain.corpus import ExtractedText
from corpus2skill.errors import SourceRefused

_HOLDERS = frozenset({"sdt", "sdtContent", "customXml", "smartTag", "ins", "moveTo"})
_DEEPEST = 20
"""Tables, text boxes and notes within one another."""


def extract_docx(data: bytes, limits: Limits) -> ExtractedText:
    """Return the text of a .docx file.

    Raises:
        SourceRefused: `corrupt`, `hostile`, `encrypted`, `too_large`.
    """
    package = Package(data, max_inflated_bytes=limits.max_inflated_bytes)
    reader = _BodyReader(package)
    blocks = _with_levels(list(reader.blocks(package.main())))
    builder = TextBuilder(characters=limits.max_characters)
    _build(blocks, builder)
    return builder.build(title=next((block.text for block in blocks if block.is_title), None))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Block:
    """A paragraph, a heading (`level`), a list item, or a table (`rows`)."""

    text: str = ""
    level: int | None = None
    rank: int | None = None
    """Of a heading that only its words give away."""
    is_title: bool = False
    is_item: bool = False
    rows: tuple[Row, ...] = ()


class _BodyReader:
    """Goes through a document once, in order: numbers count on from paragraph to paragraph."""

    def __init__(self, package: Package) -> None:
        self._styles = Styles(package.related("styles"))
        self._numbering = Numbering(package.related("numbering"))
        self._notes = {
            (kind, value(note, "id") or ""): note
            for kind in ("footnote", "endnote")
            for note in _children(package.related(f"{kind}s"))
        }

    def blocks(self, parent: Element, depth: int = 0) -> Iterator[_Block]:
        """Raises: SourceRefused (`hostile`) for what is nested deeper than any document is."""
        if depth > _DEEPEST:
            raise SourceRefused("hostile", "nesting")
        for element in _children(parent):
            name = local(element)
            if name == "p":
                yield from self._paragraph(element, depth)
            elif name == "tbl":
                yield from self._table(element, depth)
            elif name == "AlternateContent":
                branch = chosen(element)
                if branch is not None:
                    yield from self.blocks(branch, depth)
            elif name in _HOLDERS or name in {"document", "body"}:
                yield from self.blocks(element, depth)

    def _paragraph(self, element: Element, depth: int) -> Iterator[_Block]:
        properties = child(element, "pPr")
        style = self._styles.style(value(child(properties, "pStyle")))
        words = words_of(element)
        if _is_deleted(properties, words) or style.is_contents:
            return
        label = self._numbering.label(child(properties, "numPr"), style)
        if not is_blank(words.text):
            yield _paragraph_block(joined(label, words.text.strip("\t ")), label, properties, style)
        for box in words.boxes:
            yield from self.blocks(box, depth + 1)
        yield from self._note_blocks(words, depth)

    def _note_blocks(self, words: Words, depth: int) -> Iterator[_Block]:
        for number, key in enumerate(words.notes, start=1):
            note = self._notes.get(key)
            text = self._cell_text(note, depth) if note is not None else ""
            if text:
                yield _Block(text=f"[^{number}]: {text}", is_item=True)

    def _table(self, element: Element, depth: int) -> Iterator[_Block]:
        if is_box(element):
            for cell in cells_of(element):
                yield from self.blocks(cell, depth + 1)
            return
        yield _Block(rows=rows_of(element, lambda cell: self._cell_text(cell, depth)))

    def _cell_text(self, cell: Element, depth: int) -> str:
        """Return what stands in a cell or a note as one line."""
        pieces: list[str] = []
        for block in self.blocks(cell, depth + 1):
            pieces.append(block.text)
            pieces += [" ".join(filter(None, row.cells)) for row in block.rows]
        return " ".join(in_one_line(piece) for piece in pieces if not is_blank(piece))


def _paragraph_block(text: str, label: str, properties: Element | None, style: ParagraphStyle) -> _Block:
    outline = whole(child(properties, "outlineLvl"))
    level = replace(style, outline=outline).level if outline is not None else style.level
    if style.is_title:
        return _Block(text=in_one_line(text), level=1, is_title=True)
    if level is not None and len(text) <= LONGEST * 3:
        return _Block(text=in_one_line(text), level=level, rank=heading_rank(in_one_line(text)))
    rank = heading_rank(in_one_line(text))
    return _Block(text=text, rank=rank, is_item=bool(label) and rank is None)


def _with_levels(blocks: list[_Block]) -> list[_Block]:
    """Give headings that only their words give away the level of styled ones like them, or one below all styled."""
    known = {
        block.rank: block.level for block in blocks if block.rank is not None and block.level is not None
    }
    deepest = max((block.level for block in blocks if block.level is not None), default=0)
    unknown = sorted({block.rank for block in blocks if block.rank is not None} - known.keys())
    level_of = {**known, **{rank: deepest + number for number, rank in enumerate(unknown, start=1)}}
    return [
        replace(block, level=level_of[block.rank])
        if block.level is None and block.rank is not None
        else block
        for block in blocks
    ]


def _build(blocks: list[_Block], builder: TextBuilder) -> None:
    """Put blocks into a text; items of a list stand line by line in one paragraph."""
    items: list[str] = []
    for block in blocks:
        if block.is_item:
            items.append(block.text)
            continue
        builder.paragraph("\n".join(items))
        items.clear()
        if block.rows:
            builder.table([row.cells for row in block.rows], has_header=block.rows[0].is_header)
        elif block.level is not None:
            builder.heading(block.text, block.level)
        else:
            builder.paragraph(block.text)
    builder.paragraph("\n".join(items))


def _children(element: Element | None) -> Iterator[Element]:
    return iter(element if element is not None else ())


def _is_deleted(properties: Element | None, words: Words) -> bool:
    """True for a paragraph that a tracked change took out with its mark: it does not count either."""
    mark = child(properties, "rPr")
    is_mark_gone = child(mark, "del") is not None or is_on(child(mark, "vanish"))
    return is_mark_gone and is_blank(words.text)
