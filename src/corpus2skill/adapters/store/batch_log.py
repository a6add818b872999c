"""Batches under way in the database of the paid results."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Sequence
from datetime import datetime
from typing import TypeVar

from sqlalchemy import URL, Connection, Select, and_, delete, insert, inspect, select, update

from corpus2skill.adapters.store.batch_tables import BATCH_CALLS, BATCHES, TABLES
from corpus2skill.adapters.store.database import Contents, Database
from corpus2skill.adapters.store.record_chain import storable
from corpus2skill.adapters.store.result_tables import META, METADATA, OWNER, SCHEMA, upgrade
from corpus2skill.errors import Busy, Damaged
from corpus2skill.ports.batch_log import BatchedCall, NotedBatch

Item = TypeVar("Item")
_Work = Callable[[Connection], object]

_MOST_AT_ONCE = 256
"""Databases bound how many values a statement may name."""
_CONTENTS = Contents(
    metadata=METADATA,
    meta=META,
    schema=SCHEMA,
    name="results",
    upgrade=upgrade,
    damaged=lambda file: Damaged("results_damaged", file=file),
    busy=lambda path: Busy("results_busy", path=path),
)


class SqlBatchLog:
    """`ports.batch_log.BatchLog` over SQLAlchemy, in the file of `adapters.store.results`."""

    def __init__(self, url: str | URL, tenant: str = OWNER) -> None:
        self._tenant = storable(tenant)
        self._database = Database(url, _CONTENTS)

    async def note(self, batch: NotedBatch) -> None:
        await self._write(lambda connection: _insert(connection, self._tenant, batch))

    async def name(self, token: str, batch_id: str | None) -> None:
        named = update(BATCHES).where(BATCHES.c.token == token).values(batch_id=batch_id)
        await self._write(lambda connection: connection.execute(named))

    async def strike(self, token: str) -> None:
        await self._write(lambda connection: _delete(connection, token))

    async def open(self, corpus: str, identity: str) -> tuple[NotedBatch, ...]:
        return await asyncio.to_thread(
            self._database.read, lambda connection: _open(connection, self._tenant, corpus, identity), ()
        )

    def left(self) -> tuple[NotedBatch, ...]:
        return self._database.read(lambda connection: _left(connection, self._tenant), ())

    def close(self) -> None:
        """Give back the connections; the log may be used again."""
        self._database.close()

    async def _write(self, work: _Work) -> None:
        await asyncio.to_thread(self._database.write, lambda connection: _worked(connection, work))


def has_batches(connection: Connection, tenant: str, corpus: str) -> bool:
    """True where the corpus has a batch under way."""
    if not inspect(connection).has_table(BATCHES.name):
        return False
    query = (
        select(BATCHES.c.token)
        .where(BATCHES.c.tenant == tenant, BATCHES.c.corpus == storable(corpus))
        .limit(1)
    )
    return connection.execute(query).first() is not None


def forget_calls(connection: Connection, tenant: str, corpus: str, subjects: Collection[str]) -> None:
    """Delete the calls about these subjects from every batch of the corpus."""
    if not inspect(connection).has_table(BATCH_CALLS.name):
        return
    for part in _parts([storable(subject) for subject in subjects]):
        of_corpus = and_(BATCH_CALLS.c.tenant == tenant, BATCH_CALLS.c.corpus == storable(corpus))
        connection.execute(delete(BATCH_CALLS).where(of_corpus, BATCH_CALLS.c.subject.in_(part)))


def _worked(connection: Connection, work: _Work) -> None:
    METADATA.create_all(connection, tables=TABLES)
    work(connection)


def _insert(connection: Connection, tenant: str, batch: NotedBatch) -> None:
    row = {
        "tenant": tenant,
        "token": batch.token,
        "corpus": storable(batch.corpus),
        "model": storable(batch.model),
        "identity": storable(batch.identity),
        "noted_at": batch.noted_at.isoformat(timespec="milliseconds"),
        "batch_id": batch.batch_id,
    }
    connection.execute(insert(BATCHES).values(row))
    if batch.calls:
        connection.execute(insert(BATCH_CALLS), [_row(tenant, batch, call) for call in batch.calls])


def _row(tenant: str, batch: NotedBatch, call: BatchedCall) -> dict[str, object]:
    return {
        "tenant": tenant,
        "token": batch.token,
        "key": call.key,
        "corpus": storable(batch.corpus),
        "purpose": call.purpose,
        "subject": storable(call.subject),
        "prompt_characters": call.prompt_characters,
        "most_dollars": call.most_dollars,
    }


def _delete(connection: Connection, token: str) -> None:
    connection.execute(delete(BATCH_CALLS).where(BATCH_CALLS.c.token == token))
    connection.execute(delete(BATCHES).where(BATCHES.c.token == token))


_COLUMNS = tuple(BATCHES.c[name] for name in ("token", "corpus", "model", "identity", "noted_at", "batch_id"))


def _open(connection: Connection, tenant: str, corpus: str, identity: str) -> tuple[NotedBatch, ...]:
    of_model = and_(BATCHES.c.corpus == storable(corpus), BATCHES.c.identity == storable(identity))
    return _all(connection, select(*_COLUMNS).where(BATCHES.c.tenant == tenant, of_model))


def _left(connection: Connection, tenant: str) -> tuple[NotedBatch, ...]:
    return _all(connection, select(*_COLUMNS).where(BATCHES.c.tenant == tenant))


def _all(connection: Connection, query: Select[tuple[object, ...]]) -> tuple[NotedBatch, ...]:
    if not inspect(connection).has_table(BATCHES.name):
        return ()
    rows = connection.execute(query.order_by(BATCHES.c.number)).all()
    return tuple(_noted(connection, row) for row in rows)


def _noted(connection: Connection, row: Sequence[object]) -> NotedBatch:
    token, corpus, model, identity, noted_at, batch_id = row
    query = select(BATCH_CALLS).where(BATCH_CALLS.c.token == token)
    return NotedBatch(
        token=str(token),
        corpus=str(corpus),
        model=str(model),
        identity=str(identity),
        noted_at=datetime.fromisoformat(str(noted_at)),
        batch_id=None if batch_id is None else str(batch_id),
        calls=tuple(
            BatchedCall(
                key=call.key,
                purpose=call.purpose,
                subject=call.subject,
                prompt_characters=call.prompt_characters,
                most_dollars=call.most_dollars,
            )
            for call in connection.execute(query)
        ),
    )


def _parts(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    for begin in range(0, len(items), _MOST_AT_ONCE):
        yield items[begin : begin + _MOST_AT_ONCE]
