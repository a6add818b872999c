"""The parts of a Word document, found by what it says they are to it."""

from __future__ import annotations

import posixpath

from corpus2skill.adapters.extract.office_relations import main_part, relations
from corpus2skill.adapters.extract.xml_element import Element
from corpus2skill.adapters.extract.zip_parts import ZipParts
from corpus2skill.errors import SourceRefused


class Package:
    """One .docx file."""

    def __init__(self, data: bytes, *, max_inflated_bytes: int) -> None:
        """Raises: SourceRefused, as `ZipParts` and its `xml`."""
        self._parts = ZipParts(data, max_inflated_bytes=max_inflated_bytes)
        self._main = main_part(self._parts, "word/document.xml")
        of_main = relations(self._parts, self._main).values()
        self._targets = {relation.kind: relation.target for relation in of_main}

    def main(self) -> Element:
        """Raises: SourceRefused (`corrupt`) where there is no document in it."""
        document = self._parts.xml(self._main)
        if document is None:
            raise SourceRefused("corrupt", "not_docx", beginning="ZIP")
        return document

    def related(self, kind: str) -> Element | None:
        """Return the part that the document names as its `styles`, `numbering`, `footnotes`, ..."""
        target = self._targets.get(kind) or posixpath.join(posixpath.dirname(self._main), f"{kind}.xml")
        return self._parts.xml(target)
