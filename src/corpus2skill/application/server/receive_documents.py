"""Take in files while they come: to the disk and through the hash at once, never whole in memory."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from corpus2skill.application.server.corpora import require_corpus
from corpus2skill.application.server.documents import DocumentView, drop_unused, tell, views
from corpus2skill.application.server_wiring import Server, upload_files
from corpus2skill.domain.corpus import SourceReport
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.people import Principal
from corpus2skill.domain.source_names import UniqueNames, is_hidden, upload_name
from corpus2skill.domain.upload import Arrival, UploadChange
from corpus2skill.errors import Corpus2SkillError, InvalidInput, TooLarge
from corpus2skill.ports.uploads import IncomingFile, UploadFiles

MOST_FILES = 200
"""Files of one request; many requests may come at once."""
_PATIENCE = 2
"""A file's bytes over the limit are passed over up to this many times the limit; then the request is ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceivedDocument:
    """What became of one file that was sent."""

    sent: str
    """Its name as it was sent."""
    view: DocumentView | None
    """None where it was passed over: a hidden file, or another program's working file."""
    refusal: SourceReport | None = None
    """Set where these bytes were not kept: there were too many. `view` may show earlier ones of the name."""
    is_new: bool = False
    """False where these bytes were here under this name before."""


@dataclass(slots=True)
class _File:
    sent: str
    incoming: IncomingFile | None
    """None for one that is passed over."""
    size: int = 0
    is_too_large: bool = False


@dataclass(slots=True)
class Reception:
    """The files of one request, one after another. Nothing of them is here before `finish`.

    For one thread at a time. Whoever opened it calls `discard` in the end, whatever happened.
    """

    server: Server
    by: Principal
    corpus: str
    max_bytes: int
    files: UploadFiles
    _received: list[_File] = field(default_factory=list[_File])

    def begin(self, sent: str) -> None:
        """A file of this name begins.

        Raises:
            InvalidInput: there are too many in this request.
            WorkspaceUnusable: the disk is full, or nearly.
        """
        if len(self._received) >= MOST_FILES:
            raise InvalidInput("too_many_files", limit=MOST_FILES)
        is_passed_over = any(map(is_hidden, upload_name(sent).split("/")))
        self._received.append(_File(sent=sent, incoming=None if is_passed_over else self.files.begin()))

    def write(self, data: bytes) -> None:
        """More bytes of the file that began last.

        Raises:
            TooLarge: it has so many that the rest is not waited for.
            WorkspaceUnusable: the disk is full, or nearly.
        """
        file = self._received[-1]
        file.size += len(data)
        if file.size > _PATIENCE * self.max_bytes:
            raise TooLarge("upload_too_large", name=file.sent, limit=self.max_bytes)
        if file.incoming is None or file.is_too_large:
            return
        if file.size > self.max_bytes:
            file.is_too_large = True
            file.incoming.discard()
        else:
            file.incoming.write(data)

    def finish(self, folder: str = "") -> list[ReceivedDocument]:
        """Keep all files, durably, below `folder`, and return what became of each, in their order.

        Raises:
            InvalidInput: there was no file.
            WorkspaceUnusable, Busy: then nothing of them is kept.
        """
        if not self._received:
            raise InvalidInput("no_file_sent")
        named = _named(self._received, folder, self.max_bytes)
        kept = [file.incoming for file in self._received if file.incoming and not file.is_too_large]
        change = self._kept(kept, list(dict.fromkeys(arrival for arrival in named if arrival)))
        return self._told(named, change)

    def discard(self) -> None:
        """Leave nothing half: what `finish` has not taken in is removed."""
        for file in self._received:
            if file.incoming is not None:
                with suppress(Corpus2SkillError):
                    file.incoming.discard()

    def _kept(self, kept: Sequence[IncomingFile], arrivals: Sequence[Arrival]) -> UploadChange:
        server, tenant = self.server, self.by.tenant
        if not arrivals:
            return UploadChange(uploads=())
        self.files.make_durable(kept)
        with self.files.changing():
            require_corpus(server, tenant, self.corpus)  # it may have been deleted meanwhile
            self.files.take_in(kept)
            try:
                change = server.uploads.receive(
                    tenant,
                    self.corpus,
                    arrivals,
                    new_ids=[server.ids.new("document") for _ in arrivals],
                    at=moment_of(server.clock.now()),
                    by=self.by.actor,
                )
            except Corpus2SkillError:
                self._take_back(arrivals)
                raise
            drop_unused(server, tenant, change)
        return change

    def _take_back(self, arrivals: Sequence[Arrival]) -> None:
        """Remove bytes that no row speaks of; where nobody can tell, they stay and harm nobody."""
        digests = tuple(arrival.sha256 for arrival in arrivals if arrival.sha256 is not None)
        with suppress(Corpus2SkillError):
            drop_unused(self.server, self.by.tenant, UploadChange(uploads=(), dropped=digests))

    def _told(self, named: Sequence[Arrival | None], change: UploadChange) -> list[ReceivedDocument]:
        server, tenant = self.server, self.by.tenant
        changed = tuple(
            upload for upload, is_new in zip(change.uploads, change.is_new, strict=True) if is_new
        )
        if changed:  # the one write of these that waits for the disk, and takes the others along
            server.audit.note(tenant, self.by.actor, "documents.received", self.corpus, count=len(changed))
        told = UploadChange(uploads=changed, others=change.others)
        tell(server, tenant, self.corpus, "document.received", told)
        shown = views(server, tenant, self.corpus, change.uploads)
        by_name = {view.upload.name: (view, new) for view, new in zip(shown, change.is_new, strict=True)}
        return [
            ReceivedDocument(sent=file.sent, view=None)
            if arrival is None
            else ReceivedDocument(
                sent=file.sent,
                view=by_name[arrival.name][0],
                refusal=arrival.refusal,
                is_new=by_name[arrival.name][1],
            )
            for file, arrival in zip(self._received, named, strict=True)
        ]


def receive(server: Server, by: Principal, corpus: str) -> Reception:
    """Open the reception of one request.

    Raises:
        CorpusNotFound.
    """
    require_corpus(server, by.tenant, corpus)
    return Reception(
        server=server,
        by=by,
        corpus=corpus,
        max_bytes=server.workspace(by.tenant).settings.max_file_bytes,
        files=upload_files(server, by.tenant),
    )


def _named(files: Sequence[_File], folder: str, max_bytes: int) -> list[Arrival | None]:
    """Give each file its source name. Two of one name with the same bytes are one; with others, each its own."""
    names, known = UniqueNames(), dict[tuple[str, str | None], Arrival]()
    arrivals: list[Arrival | None] = []
    for file in files:
        if file.incoming is None:
            arrivals.append(None)
            continue
        sha256 = None if file.is_too_large else file.incoming.close()
        key = (upload_name(file.sent, folder), sha256)
        if key not in known:
            known[key] = _arrival(names.take(key[0]), file, sha256, max_bytes)
        arrivals.append(known[key])
    return arrivals


def _arrival(name: str, file: _File, sha256: str | None, max_bytes: int) -> Arrival:
    if sha256 is not None:
        return Arrival(name=name, bytes=file.size, sha256=sha256)
    values = (("limit", max_bytes), ("size", file.size))
    refusal = SourceReport(source=name, verdict="too_large", detail="bytes", values=values)
    return Arrival(name=name, bytes=file.size, sha256=None, refusal=refusal)
