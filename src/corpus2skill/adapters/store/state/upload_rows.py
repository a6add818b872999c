"""Rows of uploads, and how a change of some is worked out within one transaction."""

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
    insert,
    select,
    update,
)

from corpus2skill.adapters.store.encoding import canonical, from_plain, to_plain
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.domain.corpus import SourceReport
from corpus2skill.domain.upload import (
    PRESENT,
    Arrival,
    Judgement,
    Upload,
    UploadChange,
    UploadState,
    compile_order,
)
from corpus2skill.errors import Conflict

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
ALL = UPLOADS.c
_MOST_NAMED = 300
"""Values in one list of a statement."""


@dataclass(slots=True)
class UploadBook:
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
        for some in some_at_once(sorted(documents)):
            self._read(ALL.document.in_(some))
        return self.rows

    def by_names(self, names: Iterable[str]) -> dict[str, str]:
        """The ids of those that are known."""
        found: list[Upload] = []
        for some in some_at_once(sorted({name_digest(name) for name in names})):
            found += self._read(ALL.name_digest.in_(some))
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
            self.dropped |= digests_of(row)
        return True

    def set_state(
        self, row: Upload, state: UploadState, judgement: Judgement | None, *, forget: bool = False
    ) -> None:
        sha256 = None if forget else row.sha256
        self._put(replace(row, state=state, judgement=judgement, sha256=sha256, tries=0))
        self._touch(row.sha256)
        if state not in PRESENT:
            self.dropped |= digests_of(row)

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
        for some in some_at_once(sorted(self.touched)):
            for row in self._read(ALL.sha256.in_(some) & ALL.state.in_(PRESENT)):
                by_digest.setdefault(row.sha256, []).append(row)
        return [rows for rows in by_digest.values() if len(rows) > 1 or rows[0].state == "duplicate"]

    def _read(self, is_meant: ColumnElement[bool]) -> list[Upload]:
        found = self.connection.execute(select(UPLOADS).where(is_in(self.tenant, self.corpus), is_meant))
        read = [upload_of(row) for row in found.mappings()]
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
    .where(ALL.document == bindparam("of_document"))
    .values({name: bindparam(f"new_{name}") for name in _CHANGING})
)


def _values(row: Upload) -> dict[str, object]:
    plain = {key: value for key, value in to_plain(row).items() if key != "judgement"}
    names = {"name_digest": name_digest(row.name), "name_folded": folded(row.name)}
    return {**plain, **names, "judgement": _json(row.judgement)}


def _changes(row: Upload) -> dict[str, object]:
    values = _values(row)
    return {"of_document": row.document, **{f"new_{name}": values[name] for name in _CHANGING}}


def is_in(tenant: str, corpus: str) -> ColumnElement[bool]:
    return (ALL.tenant == tenant) & (ALL.corpus == corpus)


def some_at_once(values: Sequence[str]) -> Iterable[Sequence[str]]:
    for start in range(0, len(values), _MOST_NAMED):
        yield values[start : start + _MOST_NAMED]


def upload_of(row: RowMapping, *, with_judgement: bool = True) -> Upload:
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


def digests_of(row: Upload) -> set[str]:
    """SHA-256 of its bytes and of the documents' within it."""
    members = () if row.judgement is None else row.judgement.members
    digests = (row.sha256, *(member.sha256 for member in members))
    return {digest for digest in digests if digest is not None}


def _json(judgement: Judgement | None) -> str | None:
    return None if judgement is None else canonical(to_plain(judgement)).decode("ascii")


def name_digest(name: str) -> str:
    return hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()


def folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()
