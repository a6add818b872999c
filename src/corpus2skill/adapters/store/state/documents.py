"""Uploads in the server's database."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

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
                row = known.get(arrival.name)
                if row is None:
                    known[arrival.name] = row = book.added(arrival, new_id, by)
                    is_new.append(True)
                else:
                    is_new.append(book.revised(row, arrival, by))
                documents.append(row.document)
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

    def take_up(self, tenant: str, document: str) -> int:
        is_meant = (_ALL.tenant == tenant) & (_ALL.document == document)

        def work(connection: Connection) -> int:
            connection.execute(update(UPLOADS).where(is_meant).values(tries=_ALL.tries + 1))
            return connection.scalar(select(_ALL.tries).where(is_meant)) or 0

        return self._database.write(work, outlasts_power_cut=False)

    def judge(
        self, tenant: str, document: str, revision: int, judgement: Judgement, at: str
    ) -> UploadChange | None:
        is_meant = (_ALL.tenant == tenant) & (_ALL.document == document)
        is_meant &= (_ALL.revision == revision) & (_ALL.state == "received")

        def work(connection: Connection) -> UploadChange | None:
            row = _one(connection, is_meant)
            if row is None:
                return None
            book = _Book(connection, tenant, row.corpus, at)
            book.set_state(row, "accepted" if judgement.is_usable else "refused", judgement)
            return book.settled([document], [False])

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
            row = _one(connection, _is_document(tenant, corpus, document))
            if row is None:
                raise ThingNotFound("document", document)
            if row.state not in was:
                return UploadChange(uploads=(row,), is_new=(False,))
            book = _Book(connection, tenant, corpus, at)
            book.set_state(row, state, None if state == "received" else row.judgement, forget=forget)
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


@dataclass(slots=True)
class _Book:
    """The rows of one corpus within one transaction."""

    connection: Connection
    tenant: str
    corpus: str
    at: str
    touched: set[str] = field(default_factory=set[str])
    """SHA-256 of bytes that more, or fewer, documents stand for than before."""
    dropped: set[str] = field(default_factory=set[str])

    def by_names(self, names: Iterable[str]) -> dict[str, Upload]:
        found: dict[str, Upload] = {}
        for some in _some(sorted({_digest(name) for name in names})):
            for row in self._select(_ALL.name_digest.in_(some)):
                found[row.name] = row
        return found

    def added(self, arrival: Arrival, document: str, by: str) -> Upload:
        row = Upload(
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
        names = {"name_digest": _digest(row.name), "name_folded": _folded(row.name)}
        plain = {key: value for key, value in to_plain(row).items() if key != "judgement"}
        self.connection.execute(
            insert(UPLOADS).values(**plain, **names, tries=0, judgement=_json(row.judgement))
        )
        self._touch(arrival.sha256)
        return row

    def revised(self, row: Upload, arrival: Arrival, by: str) -> bool:
        """Note other bytes under a name that is known; False where nothing changes by it."""
        if row.state == "purging":
            raise Conflict("document_being_purged", document=row.name)
        is_same = row.is_present and row.sha256 == arrival.sha256 and row.bytes == arrival.bytes
        if is_same or (arrival.refusal is not None and row.is_present and row.sha256 is not None):
            return False
        is_other = row.sha256 != arrival.sha256
        self._update(
            row.document,
            revision=row.revision + is_other,
            bytes=arrival.bytes,
            sha256=arrival.sha256,
            state="received" if arrival.refusal is None else "refused",
            received_at=self.at,
            received_by=by,
            tries=0,
            judgement=_json(_refused(arrival)),
        )
        self._touch(arrival.sha256, row.sha256)
        if is_other:
            self._drop(row)
        return True

    def set_state(
        self, row: Upload, state: UploadState, judgement: Judgement | None, *, forget: bool = False
    ) -> None:
        values: dict[str, object] = {"state": state, "judgement": _json(judgement), "tries": 0}
        if forget:
            values |= {"sha256": None, "judgement": None}
        self._update(row.document, **values)
        self._touch(row.sha256)
        if state not in PRESENT:
            self._drop(row)

    def settled(self, documents: Sequence[str], is_new: Sequence[bool]) -> UploadChange:
        """Say again which of equal documents stands for them, and return what has changed."""
        changed = set[str]()
        for equal in self._equal():
            changed |= self._settle(equal)
        found = {row.document: row for row in self._by_documents({*documents, *changed})}
        return UploadChange(
            uploads=tuple(found[document] for document in documents),
            others=tuple(found[document] for document in sorted(changed.difference(documents))),
            is_new=tuple(is_new),
            dropped=tuple(sorted(self.dropped)),
        )

    def _settle(self, equal: Sequence[Upload]) -> set[str]:
        """Of documents with the same bytes the first that is not refused stands for the others."""
        ordered = sorted(equal, key=lambda row: compile_order(row.name))
        first = next((row for row in ordered if row.state != "refused"), None)
        changed = set[str]()
        for row in ordered:
            if first is None or row.state == "refused":
                continue
            if row is first:
                if row.state == "duplicate":
                    self._update(row.document, state="received", judgement=None, tries=0)
                    changed.add(row.document)
            elif row.state != "duplicate" or _same_as(row) != first.name:
                self._update(row.document, state="duplicate", judgement=_json(_duplicate(row, first.name)))
                changed.add(row.document)
        return changed

    def _equal(self) -> Iterable[Sequence[Upload]]:
        by_digest: dict[str | None, list[Upload]] = {}
        for some in _some(sorted(self.touched)):
            for row in self._select(_ALL.sha256.in_(some) & _ALL.state.in_(PRESENT)):
                by_digest.setdefault(row.sha256, []).append(row)
        return [rows for rows in by_digest.values() if len(rows) > 1 or rows[0].state == "duplicate"]

    def _by_documents(self, documents: Collection[str]) -> Iterable[Upload]:
        for some in _some(sorted(documents)):
            yield from self._select(_ALL.document.in_(some))

    def _select(self, is_meant: ColumnElement[bool]) -> list[Upload]:
        found = self.connection.execute(select(UPLOADS).where(_is_in(self.tenant, self.corpus), is_meant))
        return [_upload(row) for row in found.mappings()]

    def _update(self, document: str, **values: object) -> None:
        is_meant = (_ALL.tenant == self.tenant) & (_ALL.document == bindparam("document_meant"))
        statement = update(UPLOADS).where(is_meant).values(**values, changed_at=self.at)
        self.connection.execute(statement, {"document_meant": document})

    def _drop(self, row: Upload) -> None:
        self.dropped |= _digests(row)

    def _touch(self, *digests: str | None) -> None:
        self.touched.update(digest for digest in digests if digest is not None)


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
