"""A picture of the page of a PDF that a leaf stands on, with the leaf's text marked."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field

from corpus2skill.application.server.version_leaves import show_leaf
from corpus2skill.application.server_wiring import Server, draw_page, upload_files
from corpus2skill.errors import Conflict

WIDTH = 1_000
"""Pixels across."""
_MOST_KEPT = 64


@dataclass(slots=True)
class Pictures:
    """Those drawn last, in memory: nothing of a document stays behind when it is removed."""

    _kept: OrderedDict[tuple[str, ...], bytes] = field(default_factory=OrderedDict[tuple[str, ...], bytes])
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, key: tuple[str, ...]) -> bytes | None:
        with self._lock:
            return self._kept.get(key)

    def put(self, key: tuple[str, ...], picture: bytes) -> None:
        with self._lock:
            self._kept[key] = picture
            while len(self._kept) > _MOST_KEPT:
                self._kept.popitem(last=False)


_PICTURES = Pictures()


def page_of_leaf(
    server: Server, tenant: str, corpus: str, version: int, doc_id: str, page: str | None
) -> bytes:
    """The page as PNG; without `page`, the label of one, the first that the leaf stands on.

    Raises:
        CorpusNotFound, ThingNotFound, Damaged.
        Conflict: there is no such page of a PDF that is here as the version was compiled from it.
    """
    leaf = show_leaf(server, tenant, corpus, version, doc_id)
    row, upload = leaf.chunk.row, leaf.original
    label = page or (row.pages[0] if row.pages else "")
    is_pdf = row.page_kind == "page" and row.source.lower().endswith(".pdf")
    if not (is_pdf and leaf.is_original_same and upload is not None and label):
        raise Conflict("page_unavailable")
    digest = upload.sha256 or ""
    key = (tenant, digest, label, str(row.start), str(row.end))
    picture = _PICTURES.get(key)
    if picture is None:
        file = upload_files(server, tenant).path(digest)
        picture = draw_page(file, label, leaf.chunk.text, width=WIDTH)
        _PICTURES.put(key, picture)
    return picture
