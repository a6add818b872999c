"""Which parts of an Office document point to which: slides, sheets, notes, charts."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass

from corpus2skill.adapters.extract.xml_element import Element, child, local
from corpus2skill.adapters.extract.zip_parts import ZipParts


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    kind: str
    """The last word of its type: `slide`, `notesSlide`, `worksheet`."""
    target: str
    """Name of the part."""


def relations(parts: ZipParts, part: str) -> dict[str, Relation]:
    """Return the relations of a part by their id; `""` is the document as a whole. Links out of it are not among them.

    Raises:
        SourceRefused: as `ZipParts.xml`.
    """
    folder, name = posixpath.split(part)
    root = parts.xml(posixpath.join(folder, "_rels", f"{name}.rels"))
    found: dict[str, Relation] = {}
    for element in root if root is not None else ():
        if local(element) == "Relationship" and element.get("TargetMode", "") != "External":
            target = posixpath.normpath(posixpath.join("/", folder, element.get("Target", ""))).lstrip("/")
            kind = element.get("Type", "").rpartition("/")[2]
            found[element.get("Id", "")] = Relation(kind=kind, target=target)
    return found


def main_part(parts: ZipParts, default: str) -> str:
    """Return the part that the document begins with."""
    of_document = relations(parts, "").values()
    return next((each.target for each in of_document if each.kind == "officeDocument"), default)


def children(element: Element | None, *path: str) -> Iterator[Element]:
    """Yield the elements within the one along `path`; nothing where it is not there."""
    found = child(element, *path)
    yield from found if found is not None else ()
