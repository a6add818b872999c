"""Uploads in the server's database."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Connection,
    Index,
    Integer,
    RowMapping,
    String,
    Table,
    Text,
    UniqueConstraint,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.encoding import canonical, from_plain, to_plain
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.domain.corpus import SourceReport
from corpus2skill.domain.upload import (
    PRESENT,
    Arrival,
    Judgement,
    Upload,
    UploadChange,
    UploadFilter,
    UploadState,
    compile_order,
)
from corpus2skill.errors import Conflict, ThingNotFound

UPLOADS = Table(
    "uploads",
    METADATA,
    Column("document", String, primary_key=True),
    Column("tenant", String, nullable=False),
    Column("corpus", String, nullable=False),
    Column("name", Text, nullable=False),
    Column("name_digest", String(64), nullable=False),  # names are longer than what an index takes
    Column("name_folded", Text, nullable=False),  # for looking by a part of it
    Column("revision", Integer, nullable=False),
    Column("bytes", BigInteger, nullable=False),
    Column("sha256", String(64)),
    Column("state", String, nullable=False),
    Column("created_at", String, nullable=False),
    Column("received_at", String, nullable=False),
    Column("received_by", String, nullable=False),
    Column("changed_at", String, nullable=False),
    Column("tries", Integer, nullable=False),
    Column("judgement", Text),  # JSON
    UniqueConstraint("tenant", "corpus", "name_digest"),
    Index("uploads_listed", "tenant", "corpus", "state", "document"),
    Index("uploads_equal", "tenant", "sha256"),
    Index("uploads_waiting", "state", "tenant", "received_at"),
)
_ALL = UPLOADS.c
_MOST_NAMED = 300
"""Values in one list of a statement."""


class SqlUploadStore:
    """`ports.documents.UploadStore` over SQLAlchemy."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def receive(
        self,
        tenant: str,
        corpus: str,
        arrivals: Sequence[Arrival],
        *,
        new_ids: Sequence[str],
        at: str,
        by: str,
    ) -> UploadChange:
        def work(connection: Connection) -> UploadChange:
            book = _Book(connection, tenant, corpus, at)
            known = book.by_names(arrival.name for arrival in arrivals)
            documents, is_new = list[str](), list[bool]()
            for arrival, new_id in zip(arrivals, new_ids, strict=True):
                document = known.get(arrival.name)
                if document is None:
                    known[arrival.name] = document = book.add(arrival, new_id, by)
                    is_new.append(True)
                else:
                    is_new.append(book.revise(document, arrival, by))
                documents.append(document)
            return book.settled(documents, is_new)

        return self._database.write(work)

    def upload(self, tenant: str, corpus: str, document: str) -> Upload:
        def work(connection: Connection) -> Upload | None:
            return _one(connection, _is_document(tenant, corpus, document))

        found = self._database.read(work, None)
        if found is None:
            raise ThingNotFound("document", document)
        return found

    def uploads(
        self, tenant: str, corpus: str, which: UploadFilter, *, after: str = "", limit: int = 100
    ) -> tuple[Upload, ...]:
        wanted = select(UPLOADS).where(
            _is_in(tenant, corpus), _ALL.state.in_(which.states), _ALL.document > after
        )
        if which.name_part:
            wanted = wanted.where(_ALL.name_folded.contains(_folded(which.name_part), autoescape=True))
        wanted = wanted.order_by(_ALL.document).limit(limit)

        def work(connection: Connection) -> tuple[Upload, ...]:
            return tuple(map(_upload, connection.execute(wanted).mappings()))

        return self._database.read(work, ())

    def names(self, tenant: str, corpus: str) -> Mapping[str, Upload]:
        columns = [column for column in _ALL if column.name != "judgement"]
        wanted = select(*columns).where(_is_in(tenant, corpus), _ALL.state.in_(PRESENT))

        def work(connection: Connection) -> dict[str, Upload]:
            found = connection.execute(wanted).mappings()
            return {row["name"]: _upload(row, with_judgement=False) for row in found}

        return self._database.read(work, {})

    def by_name(self, tenant: str, corpus: str, name: str) -> Upload | None:
        is_meant = _is_in(tenant, corpus) & (_ALL.name_digest == _digest(name))

        def work(connection: Connection) -> Upload | None:
            return _one(connection, is_meant)

        return self._database.read(work, None)

    def counts(self, tenant: str) -> Mapping[str, Mapping[UploadState, int]]:
        wanted = (
            select(_ALL.corpus, _ALL.state, func.count())
            .where(_ALL.tenant == tenant)
            .group_by(_ALL.corpus, _ALL.state)
        )

        def work(connection: Connection) -> dict[str, dict[UploadState, int]]:
            counted: dict[str, dict[UploadState, int]] = {}
            for corpus, state, count in connection.execute(wanted):
                counted.setdefault(corpus, {})[state] = count
            return counted

        return self._database.read(work, {})

    def waiting(self, state: UploadState, limit: int, *, passing: Collection[str] = ()) -> tuple[Upload, ...]:
        is_waiting = (_ALL.state == state) & _ALL.document.not_in(passing)

        def work(connection: Connection) -> tuple[Upload, ...]:
            tenants = connection.scalars(
                select(_ALL.tenant).where(is_waiting).distinct().order_by(_ALL.tenant)
            )
            return tuple(
                _upload(row)
                for tenant in tenants.all()
                for row in connection.execute(
                    select(UPLOADS)
                    .where(is_waiting, _ALL.tenant == tenant)
                    .order_by(_ALL.received_at, _ALL.document)
                    .limit(limit)
                ).mappings()
            )

        return self._database.read(work, ())

    def take_up(self, uploads: Sequence[Upload]) -> None:
        def work(connection: Connection) -> None:
            for upload in uploads:
                is_meant = _is_document(upload.tenant, upload.corpus, upload.document)
                connection.execute(update(UPLOADS).where(is_meant).values(tries=_ALL.tries + 1))

        self._database.write(work, outlasts_power_cut=False)

    def judge(self, judged: Sequence[tuple[Upload, Judgement]], at: str) -> tuple[UploadChange | None, ...]:
        of_corpora: dict[tuple[str, str], list[tuple[Upload, Judgement]]] = {}
        for upload, judgement in judged:
            of_corpora.setdefault((upload.tenant, upload.corpus), []).append((upload, judgement))

        def work(connection: Connection) -> tuple[UploadChange | None, ...]:
            changes: dict[str, UploadChange] = {}
            for (tenant, corpus), some in of_corpora.items():
                changes |= _judged(_Book(connection, tenant, corpus, at), some)
            return tuple(changes.get(upload.document) for upload, _ in judged)

        return self._database.write(work)

    def mark(
        self,
        tenant: str,
        corpus: str,
        document: str,
        state: UploadState,
        at: str,
        *,
        was: Collection[UploadState],
        forget: bool = False,
    ) -> UploadChange:
        def work(connection: Connection) -> UploadChange:
            book = _Book(connection, tenant, corpus, at)
            row = book.load([document]).get(document)
            if row is None:
                raise ThingNotFound("document", document)
            if row.state not in was:
                return UploadChange(uploads=(row,), is_new=(False,))
            kept = None if forget or state == "received" else row.judgement
            book.set_state(row, state, kept, forget=forget)
            return book.settled([document], [False])

        return self._database.write(work)

    def forget_corpus(self, tenant: str, corpus: str) -> tuple[str, ...]:
        is_meant = _is_in(tenant, corpus)

        def work(connection: Connection) -> tuple[str, ...]:
            digests = set[str]()
            for row in connection.execute(select(UPLOADS).where(is_meant)).mappings():
                digests |= _digests(_upload(row))
            connection.execute(delete(UPLOADS).where(is_meant))
            return tuple(sorted(digests))

        return self._database.write(work)

    def unused(self, tenant: str, digests: Collection[str]) -> frozenset[str]:
        used = select(_ALL.sha256).where(_ALL.tenant == tenant, _ALL.state.in_(PRESENT))

        def work(connection: Connection) -> frozenset[str]:
            found = set[str]()
            for some in _some(sorted(digests)):
                found.update(
                    digest for digest in connection.scalars(used.where(_ALL.sha256.in_(some))) if digest
                )
            return frozenset(digests) - found

        return self._database.read(work, frozenset(digests))


def _judged(book: _Book, judged: Sequence[tuple[Upload, Judgement]]) -> dict[str, UploadChange]:
    """Set what was found; the first change has the others whose state changed because of all."""
    rows = book.load([upload.document for upload, _ in judged])
    documents = list[str]()
    for upload, judgement in judged:
        row = rows.get(upload.document)
        if row is not None and (row.state, row.revision) == ("received", upload.revision):
            book.set_state(row, "accepted" if judgement.is_usable else "refused", judgement)
            documents.append(row.document)
    whole = book.settled(documents, [False] * len(documents))
    changes = {upload.document: UploadChange(uploads=(upload,), is_new=(False,)) for upload in whole.uploads}
    if documents:
        changes[documents[0]] = replace(changes[documents[0]], others=whole.others)
    return changes


@dataclass(slots=True)
class _Book:
    """The rows of one corpus within one transaction: read together, written together.

    Whoever holds the database's only pen must not hold it long.
    """

    connection: Connection
    tenant: str
    corpus: str
    at: str
    rows: dict[str, Upload] = field(default_factory=dict[str, Upload])
    """By id, as they are to be."""
    new: list[str] = field(default_factory=list[str])
    changed: set[str] = field(default_factory=set[str])
    touched: set[str] = field(default_factory=set[str])
    """SHA-256 of bytes that more, or fewer, documents stand for than before."""
    dropped: set[str] = field(default_factory=set[str])

    def load(self, documents: Collection[str]) -> Mapping[str, Upload]:
        for some in _some(sorted(documents)):
            self._read(_ALL.document.in_(some))
        return self.rows

    def by_names(self, names: Iterable[str]) -> dict[str, str]:
        """The ids of those that are known."""
        found: list[Upload] = []
        for some in _some(sorted({_digest(name) for name in names})):
            found += self._read(_ALL.name_digest.in_(some))
        return {row.name: row.document for row in found}

    def add(self, arrival: Arrival, document: str, by: str) -> str:
        self.rows[document] = Upload(
            document=document,
            tenant=self.tenant,
            corpus=self.corpus,
            name=arrival.name,
            revision=1,
            bytes=arrival.bytes,
            sha256=arrival.sha256,
            state="received" if arrival.refusal is None else "refused",
            created_at=self.at,
            received_at=self.at,
            received_by=by,
            changed_at=self.at,
            judgement=_refused(arrival),
        )
        self.new.append(document)
        self._touch(arrival.sha256)
        return document

    def revise(self, document: str, arrival: Arrival, by: str) -> bool:
        """Note other bytes under a name that is known; False where nothing changes by it."""
        row = self.rows[document]
        if row.state == "purging":
            raise Conflict("document_being_purged", document=row.name)
        is_same = row.is_present and row.sha256 == arrival.sha256 and row.bytes == arrival.bytes
        if is_same or (arrival.refusal is not None and row.is_present and row.sha256 is not None):
            return False
        is_other = row.sha256 != arrival.sha256
        self._put(
            replace(
                row,
                revision=row.revision + is_other,
                bytes=arrival.bytes,
                sha256=arrival.sha256,
                state="received" if arrival.refusal is None else "refused",
                received_at=self.at,
                received_by=by,
                tries=0,
                judgement=_refused(arrival),
            )
        )
        self._touch(arrival.sha256, row.sha256)
        if is_other:
            self.dropped |= _digests(row)
        return True

    def set_state(
        self, row: Upload, state: UploadState, judgement: Judgement | None, *, forget: bool = False
    ) -> None:
        sha256 = None if forget else row.sha256
        self._put(replace(row, state=state, judgement=judgement, sha256=sha256, tries=0))
        self._touch(row.sha256)
        if state not in PRESENT:
            self.dropped |= _digests(row)

    def settled(self, documents: Sequence[str], is_new: Sequence[bool]) -> UploadChange:
        """Write it all, say again which of equal documents stands for them, and return what has changed."""
        self._write()
        for equal in self._equal():
            self._settle(equal)
        others = sorted(self.changed.difference(documents))
        self._write()
        return UploadChange(
            uploads=tuple(self.rows[document] for document in documents),
            others=tuple(self.rows[document] for document in others),
            is_new=tuple(is_new),
            dropped=tuple(sorted(self.dropped)),
        )

    def _settle(self, equal: Sequence[Upload]) -> None:
        """Of documents with the same bytes the first that is not refused stands for the others."""
        ordered = sorted(equal, key=lambda row: compile_order(row.name))
        first = next((row for row in ordered if row.state != "refused"), None)
        for row in ordered:
            if first is None or row.state == "refused":
                continue
            if row is first:
                if row.state == "duplicate":
                    self._put(replace(row, state="received", judgement=None, tries=0))
            elif row.state != "duplicate" or _same_as(row) != first.name:
                self._put(replace(row, state="duplicate", judgement=_duplicate(row, first.name)))

    def _equal(self) -> Iterable[Sequence[Upload]]:
        by_digest: dict[str | None, list[Upload]] = {}
        for some in _some(sorted(self.touched)):
            for row in self._read(_ALL.sha256.in_(some) & _ALL.state.in_(PRESENT)):
                by_digest.setdefault(row.sha256, []).append(row)
        return [rows for rows in by_digest.values() if len(rows) > 1 or rows[0].state == "duplicate"]

    def _read(self, is_meant: ColumnElement[bool]) -> list[Upload]:
        found = self.connection.execute(select(UPLOADS).where(_is_in(self.tenant, self.corpus), is_meant))
        read = [_upload(row) for row in found.mappings()]
        self.rows.update((row.document, row) for row in read)
        return read

    def _put(self, row: Upload) -> None:
        self.rows[row.document] = replace(row, changed_at=self.at)
        self.changed.add(row.document)

    def _write(self) -> None:
        if self.new:
            self.connection.execute(insert(UPLOADS), [_values(self.rows[document]) for document in self.new])
            self.new.clear()
        if self.changed:
            self.connection.execute(_CHANGE, [_changes(self.rows[document]) for document in self.changed])
            self.changed.clear()

    def _touch(self, *digests: str | None) -> None:
        self.touched.update(digest for digest in digests if digest is not None)


_CHANGING = (
    "revision",
    "bytes",
    "sha256",
    "state",
    "received_at",
    "received_by",
    "changed_at",
    "tries",
    "judgement",
)
_CHANGE = (
    update(UPLOADS)
    .where(_ALL.document == bindparam("of_document"))
    .values({name: bindparam(f"new_{name}") for name in _CHANGING})
)


def _values(row: Upload) -> dict[str, object]:
    plain = {key: value for key, value in to_plain(row).items() if key != "judgement"}
    names = {"name_digest": _digest(row.name), "name_folded": _folded(row.name)}
    return {**plain, **names, "judgement": _json(row.judgement)}


def _changes(row: Upload) -> dict[str, object]:
    values = _values(row)
    return {"of_document": row.document, **{f"new_{name}": values[name] for name in _CHANGING}}


def _is_in(tenant: str, corpus: str) -> ColumnElement[bool]:
    return (_ALL.tenant == tenant) & (_ALL.corpus == corpus)


def _is_document(tenant: str, corpus: str, document: str) -> ColumnElement[bool]:
    return _is_in(tenant, corpus) & (_ALL.document == document)


def _one(connection: Connection, is_meant: ColumnElement[bool]) -> Upload | None:
    row = connection.execute(select(UPLOADS).where(is_meant)).mappings().first()
    return None if row is None else _upload(row)


def _some(values: Sequence[str]) -> Iterable[Sequence[str]]:
    for start in range(0, len(values), _MOST_NAMED):
        yield values[start : start + _MOST_NAMED]


def _upload(row: RowMapping, *, with_judgement: bool = True) -> Upload:
    judged = row["judgement"] if with_judgement else None
    return Upload(
        document=row["document"],
        tenant=row["tenant"],
        corpus=row["corpus"],
        name=row["name"],
        revision=row["revision"],
        bytes=row["bytes"],
        sha256=row["sha256"],
        state=row["state"],
        created_at=row["created_at"],
        received_at=row["received_at"],
        received_by=row["received_by"],
        changed_at=row["changed_at"],
        tries=row["tries"],
        judgement=None if judged is None else from_plain(json.loads(judged), Judgement),
    )


def _refused(arrival: Arrival) -> Judgement | None:
    return None if arrival.refusal is None else Judgement(report=arrival.refusal)


def _duplicate(row: Upload, same_as: str) -> Judgement:
    values = (("same_as", same_as),)
    report = SourceReport(source=row.name, verdict="duplicate", sha256=row.sha256, values=values)
    return Judgement(report=report)


def _same_as(row: Upload) -> str | None:
    return None if row.judgement is None else str(dict(row.judgement.report.values).get("same_as"))


def _digests(row: Upload) -> set[str]:
    """SHA-256 of its bytes and of the documents' within it."""
    members = () if row.judgement is None else row.judgement.members
    digests = (row.sha256, *(member.sha256 for member in members))
    return {digest for digest in digests if digest is not None}


def _json(judgement: Judgement | None) -> str | None:
    return None if judgement is None else canonical(to_plain(judgement)).decode("ascii")


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()
