"""The words of a Word paragraph: insertions in, deletions, comments, hidden text and field codes out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from corpus2skill.adapters.extract.xml_element import Element, child, is_on, local, value

_LEFT_OUT = frozenset(
    {
        "del",
        "moveFrom",
        "instrText",
        "delText",
        "delInstrText",
        "pPr",
        "rPr",
        "rt",
        "object",
        "ctrlPr",
        "sdtPr",
    }
)
_SIGNS = {"tab": "\t", "ptab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "softHyphen": ""}
_BREAKS_OF_PAGES = frozenset({"page", "column"})


@dataclass(slots=True, kw_only=True)
class Words:
    """What stands in one paragraph."""

    pieces: list[str] = field(default_factory=list[str])
    boxes: list[Element] = field(default_factory=list[Element])
    """Text boxes that are anchored in it (`w:txbxContent`)."""
    notes: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Footnotes and endnotes that it refers to: kind and id."""

    @property
    def text(self) -> str:
        return "".join(self.pieces)


def words_of(paragraph: Element) -> Words:
    """Return the words of a `w:p`. Text boxes and notes are named, not read."""
    words = Words()
    for inner in paragraph:
        _read(inner, words)
    return words


def chosen(alternatives: Element) -> Element | None:
    """Return one branch of `mc:AlternateContent`; the other says the same for older programs."""
    branches = [branch for branch in alternatives if local(branch) in {"Choice", "Fallback"}]
    return next((branch for branch in branches if _has_text(branch)), branches[0] if branches else None)


def _read(element: Element, words: Words) -> None:
    name = local(element)
    if name in _LEFT_OUT:
        return
    if name == "t":
        words.pieces.append(element.text or "")
    elif name == "r":
        _read_run(element, words)
    elif name in _SIGNS:
        words.pieces.append("" if value(element, "type") in _BREAKS_OF_PAGES else _SIGNS[name])
    elif name == "sym":
        words.pieces.append(_symbol(value(element, "char")))
    elif name in {"footnoteReference", "endnoteReference"}:
        words.notes.append((name.removesuffix("Reference"), value(element, "id") or ""))
        words.pieces.append(f"[^{len(words.notes)}]")
    elif name == "txbxContent":
        words.boxes.append(element)
    else:
        _read_inside(element, name, words)


def _read_inside(element: Element, name: str, words: Words) -> None:
    if name == "AlternateContent":
        branch = chosen(element)
        _read_all(branch if branch is not None else (), words)
    else:
        _read_all(element, words)


def _read_all(elements: Iterable[Element], words: Words) -> None:
    for inner in elements:
        _read(inner, words)


def _read_run(run: Element, words: Words) -> None:
    properties = child(run, "rPr")
    if is_on(child(properties, "vanish")):
        return
    for inner in run:
        _read(inner, words)


def _symbol(code: str | None) -> str:
    """A character of a symbol font; private ones mean nothing without the font."""
    try:
        character = chr(int(code or "", 16))
    except (ValueError, OverflowError):
        return ""
    return "" if "\ue000" <= character <= "\uf8ff" or "\ud800" <= character <= "\udfff" else character


def _has_text(element: Element) -> bool:
    return any(local(inner) == "t" and inner.text for inner in element.iter())
