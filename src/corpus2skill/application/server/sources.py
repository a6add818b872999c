"""Open a source of an answer."""

from __future__ import annotations

from dataclasses import dataclass

from corpus2skill.application.original import Passage, open_passage
from corpus2skill.application.server.conversations import RunView
from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.run import RunRecord, Source
from corpus2skill.errors import Conflict, NotFound, SourceNotFound, VersionNotFound


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedSource:
    source: Source
    version: int
    passage: Passage


def open_source(server: Server, view: RunView, wanted: str, around: int) -> OpenedSource:
    """Open the citation of this number, or the leaf of this doc id that the run read.

    Raises:
        Conflict: the run is under way.
        NotFound: it has no such source, or its version is gone.
    """
    if view.record is None:
        raise Conflict("run_not_finished", run=view.hosted.run)
    source, ids = _source(view.record, wanted), view.record.ids
    try:
        passage = open_passage(
            server.workspace(ids.tenant), ids.corpus, ids.version, source, around=around, looks_for_file=False
        )
    except (VersionNotFound, SourceNotFound) as error:
        raise NotFound("source_gone", source=wanted, corpus=ids.corpus, version=ids.version) from error
    return OpenedSource(source=source, version=ids.version, passage=passage)


def _source(record: RunRecord, wanted: str) -> Source:
    cited = record.citations
    if wanted.isascii() and wanted.isdecimal() and 1 <= int(wanted) <= len(cited):
        return cited[int(wanted) - 1]
    for source in record.evidence:
        if source.doc_id == wanted:
            return source
    raise NotFound("no_such_source", source=wanted)
