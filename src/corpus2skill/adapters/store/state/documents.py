"""Uploads in the server's database."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from sqlalchemy import ColumnElement, Connection, delete, func, select, update

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.upload_rows import (
    ALL,
    UPLOADS,
    UploadBook,
    digests_of,
    folded,
    is_in,
    name_digest,
    some_at_once,
    upload_of,
)
from corpus2skill.domain.upload import (
    PRESENT,
    Arrival,
    Judgement,
    Upload,
    UploadChange,
    UploadFilter,
    UploadState,
)
from corpus2skill.errors import ThingNotFound


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
            book = UploadBook(connection, tenant, corpus, at)
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

        return self._database.write(work, outlasts_power_cut=False)

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
            is_in(tenant, corpus), ALL.state.in_(which.states), ALL.document > after
        )
        if which.name_part:
            wanted = wanted.where(ALL.name_folded.contains(folded(which.name_part), autoescape=True))
        wanted = wanted.order_by(ALL.document).limit(limit)

        def work(connection: Connection) -> tuple[Upload, ...]:
            return tuple(map(upload_of, connection.execute(wanted).mappings()))

        return self._database.read(work, ())

    def names(self, tenant: str, corpus: str) -> Mapping[str, Upload]:
        columns = [column for column in ALL if column.name != "judgement"]
        wanted = select(*columns).where(is_in(tenant, corpus), ALL.state.in_(PRESENT))

        def work(connection: Connection) -> dict[str, Upload]:
            found = connection.execute(wanted).mappings()
            return {row["name"]: upload_of(row, with_judgement=False) for row in found}

        return self._database.read(work, {})

    def by_name(self, tenant: str, corpus: str, name: str) -> Upload | None:
        is_meant = is_in(tenant, corpus) & (ALL.name_digest == name_digest(name))

        def work(connection: Connection) -> Upload | None:
            return _one(connection, is_meant)

        return self._database.read(work, None)

    def counts(self, tenant: str) -> Mapping[str, Mapping[UploadState, int]]:
        wanted = (
            select(ALL.corpus, ALL.state, func.count())
            .where(ALL.tenant == tenant)
            .group_by(ALL.corpus, ALL.state)
        )

        def work(connection: Connection) -> dict[str, dict[UploadState, int]]:
            counted: dict[str, dict[UploadState, int]] = {}
            for corpus, state, count in connection.execute(wanted):
                counted.setdefault(corpus, {})[state] = count
            return counted

        return self._database.read(work, {})

    def waiting(self, state: UploadState, limit: int, *, passing: Collection[str] = ()) -> tuple[Upload, ...]:
        is_waiting = (ALL.state == state) & ALL.document.not_in(passing)

        def work(connection: Connection) -> tuple[Upload, ...]:
            tenants = connection.scalars(select(ALL.tenant).where(is_waiting).distinct().order_by(ALL.tenant))
            return tuple(
                upload_of(row)
                for tenant in tenants.all()
                for row in connection.execute(
                    select(UPLOADS)
                    .where(is_waiting, ALL.tenant == tenant)
                    .order_by(ALL.received_at, ALL.document)
                    .limit(limit)
                ).mappings()
            )

        return self._database.read(work, ())

    def take_up(self, uploads: Sequence[Upload]) -> None:
        def work(connection: Connection) -> None:
            for upload in uploads:
                is_meant = _is_document(upload.tenant, upload.corpus, upload.document)
                connection.execute(update(UPLOADS).where(is_meant).values(tries=ALL.tries + 1))

        self._database.write(work, outlasts_power_cut=False)

    def judge(self, judged: Sequence[tuple[Upload, Judgement]], at: str) -> tuple[UploadChange | None, ...]:
        of_corpora: dict[tuple[str, str], list[tuple[Upload, Judgement]]] = {}
        for upload, judgement in judged:
            of_corpora.setdefault((upload.tenant, upload.corpus), []).append((upload, judgement))

        def work(connection: Connection) -> tuple[UploadChange | None, ...]:
            changes: dict[str, UploadChange] = {}
            for (tenant, corpus), some in of_corpora.items():
                changes |= _judged(UploadBook(connection, tenant, corpus, at), some)
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
            book = UploadBook(connection, tenant, corpus, at)
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
        is_meant = is_in(tenant, corpus)

        def work(connection: Connection) -> tuple[str, ...]:
            digests = set[str]()
            for row in connection.execute(select(UPLOADS).where(is_meant)).mappings():
                digests |= digests_of(upload_of(row))
            connection.execute(delete(UPLOADS).where(is_meant))
            return tuple(sorted(digests))

        return self._database.write(work)

    def unused(self, tenant: str, digests: Collection[str]) -> frozenset[str]:
        used = select(ALL.sha256).where(ALL.tenant == tenant, ALL.state.in_(PRESENT))

        def work(connection: Connection) -> frozenset[str]:
            found = set[str]()
            for some in some_at_once(sorted(digests)):
                found.update(
                    digest for digest in connection.scalars(used.where(ALL.sha256.in_(some))) if digest
                )
            return frozenset(digests) - found

        return self._database.read(work, frozenset(digests))


def _judged(book: UploadBook, judged: Sequence[tuple[Upload, Judgement]]) -> dict[str, UploadChange]:
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


def _is_document(tenant: str, corpus: str, document: str) -> ColumnElement[bool]:
    return is_in(tenant, corpus) & (ALL.document == document)


def _one(connection: Connection, is_meant: ColumnElement[bool]) -> Upload | None:
    row = connection.execute(select(UPLOADS).where(is_meant)).mappings().first()
    return None if row is None else upload_of(row)
