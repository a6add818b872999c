"""PowerPoint: slide by slide the title, what stands on it in the order of reading, and the speaker's notes."""

from __future__ import annotations

from collections.abc import Iterator

from corpus2skill.adapters.extract.limits import Limits
from corpus2skill.adapters.extract.office_relations import Relation, children, main_part, relations
from corpus2skill.adapters.extract.pptx_chart import chart_of, diagram_lines
from corpus2skill.adapters.extract.pptx_shapes import TITLES, Layouts, Shape, shapes_of
from corpus2skill.adapters.extract.pptx_table import has_header, table_rows
from corpus2skill.adapters.extract.pptx_text import lines_of, words_of
from corpus2skill.adapters.extract.text_builder import TextBuilder
from corpus2skill.adapters.extract.xml_element import Element, child, local, value
from corpus2skill.adapters.extract.zip_parts import ZipParts
from corpus2skill.domain.corpus import ExtractedText, Notice
from corpus2skill.errors import SourceRefused

_LISTS = frozenset({"body", "obj"})
"""Placeholders whose paragraphs have bullets by their nature."""


def extract_pptx(data: bytes, limits: Limits) -> ExtractedText:
    """Return the text of a .pptx file.

    Raises:
        SourceRefused: `corrupt`, `hostile`, `encrypted`, `too_large`.
    """
    parts = ZipParts(data, max_inflated_bytes=limits.max_inflated_bytes)
    return _DeckReader(parts, limits).read()


class _DeckReader:
    def __init__(self, parts: ZipParts, limits: Limits) -> None:
        self._parts = parts
        self._limits = limits
        self._builder = TextBuilder(characters=limits.max_characters)
        self._layouts: dict[str, Layouts] = {}
        self._title: str | None = None
        self._hidden = 0

    def read(self) -> ExtractedText:
        for number, part in enumerate(self._slides(), start=1):
            slide = self._parts.xml(part)
            if slide is None:
                continue
            if value(slide, "show") in {"0", "false"}:
                self._hidden += 1
                continue
            self._builder.page(str(number), "slide")
            self._read_slide(slide, relations(self._parts, part))
        notices = [Notice(code="slides_hidden", values=(("count", self._hidden),))] if self._hidden else []
        return self._builder.build(title=self._title, notices=notices)

    def _slides(self) -> Iterator[str]:
        """Yield the slides in the order of the show."""
        main = main_part(self._parts, "ppt/presentation.xml")
        root = self._parts.xml(main)
        if root is None:
            raise SourceRefused("corrupt", "not_as_named", suffix=".pptx", beginning="ZIP")
        of_deck = relations(self._parts, main)
        entries = list(children(root, "sldIdLst"))
        if len(entries) > self._limits.max_pages:
            raise SourceRefused("too_large", "pages", pages=len(entries), limit=self._limits.max_pages)
        for entry in entries:
            found = (of_deck[key] for key in entry.attrib.values() if key in of_deck)
            yield from (relation.target for relation in found if relation.kind == "slide")

    def _read_slide(self, slide: Element, of_slide: dict[str, Relation]) -> None:
        for shape in shapes_of(slide, self._layouts_of(of_slide)):
            if shape.is_frame:
                self._read_frame(shape.element, of_slide)
            else:
                self._read_text(shape)
        self._read_notes(of_slide)

    def _read_text(self, shape: Shape) -> None:
        frame = child(shape.element, "txBody")
        if shape.placeholder in TITLES:
            words = words_of(frame)
            self._title = self._title or words or None
            self._builder.heading(words, 1)
        else:
            self._builder.paragraph("\n".join(lines_of(frame, is_list=shape.placeholder in _LISTS)))

    def _read_frame(self, frame: Element, of_slide: dict[str, Relation]) -> None:
        for inner in children(frame, "graphic", "graphicData"):
            name = local(inner)
            if name == "tbl":
                self._builder.table(table_rows(inner), has_header=has_header(inner))
            elif name == "chart":
                self._read_chart(self._part(value(inner, "id"), of_slide))
            elif name == "relIds":
                diagram = self._part(value(inner, "dm"), of_slide)
                self._builder.paragraph("\n".join(diagram_lines(diagram)) if diagram is not None else "")

    def _read_chart(self, part: Element | None) -> None:
        if part is None:
            return
        chart = chart_of(part)
        self._builder.paragraph(chart.title)
        self._builder.table(chart.rows)

    def _read_notes(self, of_slide: dict[str, Relation]) -> None:
        target = next((each.target for each in of_slide.values() if each.kind == "notesSlide"), None)
        notes = self._parts.xml(target) if target else None
        if notes is None:
            return
        for shape in shapes_of(notes, Layouts()):
            if shape.placeholder == "body":
                self._builder.paragraph("\n".join(lines_of(child(shape.element, "txBody"))))

    def _layouts_of(self, of_slide: dict[str, Relation]) -> Layouts:
        target = next((each.target for each in of_slide.values() if each.kind == "slideLayout"), "")
        if target not in self._layouts:
            of_layout = relations(self._parts, target) if target else {}
            master = next((each.target for each in of_layout.values() if each.kind == "slideMaster"), "")
            self._layouts[target] = Layouts(self._parts.xml(target), self._parts.xml(master))
        return self._layouts[target]

    def _part(self, key: str | None, of_slide: dict[str, Relation]) -> Element | None:
        relation = of_slide.get(key or "")
        return self._parts.xml(relation.target) if relation else None
