"""What stands on a slide: text frames, tables, charts, diagrams, in the order of reading."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from corpus2skill.adapters.extract.office_relations import children
from corpus2skill.adapters.extract.reading_order import Box, in_reading_order
from corpus2skill.adapters.extract.xml_element import Element, child, local, value, whole
from corpus2skill.errors import SourceRefused

TITLES = frozenset({"title", "ctrTitle"})
_FURNITURE = frozenset({"dt", "ftr", "sldNum", "hdr"})
"""Date, footer and number: the same on every slide."""
_DEEPEST = 20
"""Groups within one another."""
_NOWHERE = Box(left=0, top=0, width=0, height=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """A shape that may say something; `element` is its `p:sp` or `p:graphicFrame`."""

    element: Element
    box: Box
    placeholder: str | None = None
    """What its layout means it for: `title`, `body`, `subTitle`; None for a free shape."""

    @property
    def is_frame(self) -> bool:
        return local(self.element) == "graphicFrame"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    members: tuple[Shape | _Group, ...]
    box: Box


class Layouts:
    """Where placeholders stand that do not say so themselves: on the layout, else on the master."""

    def __init__(self, *above: Element | None) -> None:
        self._trees = [tree for each in above if (tree := child(each, "cSld", "spTree")) is not None]

    def box(self, placeholder: Element) -> Box | None:
        number, kind = value(placeholder, "idx"), value(placeholder, "type") or "body"
        for tree in self._trees:
            likes = [(shape, like) for shape in tree if (like := _placeholder(shape)) is not None]
            same = [shape for shape, like in likes if number is not None and value(like, "idx") == number]
            same += [
                shape
                for shape, like in likes
                if _kind(like) == _kind(placeholder) or value(like, "type") == kind
            ]
            found = next((box for shape in same if (box := _own_box(shape)) is not None), None)
            if found is not None:
                return found
        return None


def shapes_of(slide: Element, layouts: Layouts) -> Iterator[Shape]:
    """Yield the shapes of a slide in the order of reading, the title first.

    Raises:
        SourceRefused: `hostile`; groups are nested deeper than any slide's.
    """
    found = list(_shapes(child(slide, "cSld", "spTree"), layouts, 0))
    titles = [each for each in found if isinstance(each, Shape) and each.placeholder in TITLES]
    yield from titles
    yield from _flat([each for each in found if each not in titles])


def _flat(shapes: list[Shape | _Group]) -> Iterator[Shape]:
    """A group is read as one thing, in an order of its own."""
    for shape in in_reading_order(shapes, lambda each: each.box):
        if isinstance(shape, Shape):
            yield shape
        else:
            yield from _flat(list(shape.members))


def _shapes(tree: Element | None, layouts: Layouts, depth: int) -> Iterator[Shape | _Group]:
    if depth > _DEEPEST:
        raise SourceRefused("hostile", "nesting")
    for element in children(tree):
        name = local(element)
        if name in {"sp", "graphicFrame"}:
            if (shape := _shape(element, layouts)) is not None:
                yield shape
        elif name == "AlternateContent":
            branch = child(element, "Choice")
            yield from _shapes(branch if branch is not None else child(element, "Fallback"), layouts, depth)
        elif name == "grpSp":
            members = tuple(_shapes(element, layouts, depth + 1))
            if members:
                yield _Group(members=members, box=_own_box(element) or _NOWHERE)


def _shape(element: Element, layouts: Layouts) -> Shape | None:
    """Return a shape that is shown and has a place for words, else None."""
    if value(child(_about(element), "cNvPr"), "hidden") in {"1", "true"}:
        return None
    placeholder = _placeholder(element)
    kind = None if placeholder is None else value(placeholder, "type") or "body"
    if kind in _FURNITURE or (local(element) == "sp" and not _has_words(element)):
        return None
    inherited = None if placeholder is None else layouts.box(placeholder)
    return Shape(element=element, box=_own_box(element) or inherited or _NOWHERE, placeholder=kind)


def _has_words(shape: Element) -> bool:
    frame = child(shape, "txBody")
    return frame is not None and any(
        local(each) == "t" and (each.text or "").strip() for each in frame.iter()
    )


def _about(shape: Element) -> Element | None:
    """Return what holds a shape's names: `p:nvSpPr` and its kin."""
    return next((each for each in shape if local(each).startswith("nv")), None)


def _placeholder(shape: Element) -> Element | None:
    return child(_about(shape), "nvPr", "ph")


def _kind(placeholder: Element) -> str:
    kind = value(placeholder, "type") or "body"
    return "title" if kind in TITLES else kind


def _own_box(shape: Element) -> Box | None:
    holder = next((each for each in shape if local(each) in {"spPr", "grpSpPr"}), shape)
    place = child(holder, "xfrm")
    corner, size = child(place, "off"), child(place, "ext")
    if corner is None:
        return None
    return Box(
        left=whole(corner, "x") or 0,
        top=whole(corner, "y") or 0,
        width=max(whole(size, "cx") or 0, 0),
        height=max(whole(size, "cy") or 0, 0),
    )
