"""The parts of a Word document, inflated with a limit and parsed without entities."""

from __future__ import annotations

import posixpath
import zipfile
import zlib
from io import BytesIO

from corpus2skill.adapters.extract.xml_element import Element, MalformedXml, parsed
from corpus2skill.errors import SourceRefused

_STEP = 1_000_000
_MAIN = "/officeDocument"


class Package:
    """One .docx file."""

    def __init__(self, data: bytes, *, max_inflated_bytes: int) -> None:
        """Raises: SourceRefused (`corrupt`) where `data` is no archive."""
        self._limit = max_inflated_bytes
        self._inflated = 0
        try:
            self._archive = zipfile.ZipFile(BytesIO(data))
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            raise SourceRefused("corrupt", "archive") from error
        self._names = set(self._archive.namelist())
        self._main = self._main_part()
        self._targets = self._relations(self._main)

    def main(self) -> Element:
        """Raises: SourceRefused (`corrupt`) where there is no document in it."""
        document = self.xml(self._main)
        if document is None:
            raise SourceRefused("corrupt", "not_docx", beginning="ZIP")
        return document

    def related(self, kind: str) -> Element | None:
        """Return the part that the document names as its `styles`, `numbering`, `footnotes`, ..."""
        target = self._targets.get(f"/{kind}") or posixpath.join(posixpath.dirname(self._main), f"{kind}.xml")
        return self.xml(target)

    def xml(self, name: str) -> Element | None:
        """Return a parsed part, None where there is none.

        Raises:
            SourceRefused: `too_large`, `hostile` (a DTD, which no Office part has), `encrypted` or `corrupt`.
        """
        if name not in self._names:
            return None
        data = self._inflate(name)
        try:
            root, has_dtd = parsed(data)
        except MalformedXml as error:
            raise SourceRefused("hostile" if b"<!DOCTYPE" in data else "corrupt") from error
        if has_dtd:
            raise SourceRefused("hostile", "dtd")
        return root

    def _inflate(self, name: str) -> bytes:
        """Inflate in steps: the sizes that an archive declares may lie."""
        pieces: list[bytes] = []
        try:
            with self._archive.open(name) as part:
                while piece := part.read(_STEP):
                    pieces.append(piece)
                    self._inflated += len(piece)
                    if self._inflated > self._limit:
                        raise SourceRefused("too_large", "inflated", limit=self._limit)
        except RuntimeError as error:
            raise SourceRefused("encrypted") from error
        except (
            zipfile.BadZipFile,
            OSError,
            EOFError,
            ValueError,
            NotImplementedError,
            zlib.error,
        ) as error:
            raise SourceRefused("corrupt", "archive") from error
        return b"".join(pieces)

    def _main_part(self) -> str:
        return self._relations("").get(_MAIN, "word/document.xml")

    def _relations(self, part: str) -> dict[str, str]:
        """Return the parts that `part` points to, by the last word of the relation's type."""
        folder, name = posixpath.split(part)
        relations = self.xml(posixpath.join(folder, "_rels", f"{name}.rels"))
        found: dict[str, str] = {}
        for relation in relations if relations is not None else ():
            kind, target = relation.get("Type", ""), relation.get("Target", "")
            if relation.get("TargetMode") != "External":
                found[kind[kind.rfind("/") :]] = posixpath.normpath(
                    posixpath.join("/", folder, target)
                ).lstrip("/")
        return found
