"""Paid results in a database, written in groups and found by key."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from sqlalchemy import URL, ColumnElement, Connection, and_, bindparam, delete, func, insert, select

from corpus2skill.adapters.store.batch_log import forget_calls, has_batches
from corpus2skill.adapters.store.database import Contents, Database
from corpus2skill.adapters.store.encoding import decode, encode
from corpus2skill.adapters.store.gathering import Gathering
from corpus2skill.adapters.store.record_chain import storable
from corpus2skill.adapters.store.result_tables import META, METADATA, OWNER, RESULTS, SCHEMA, upgrade
from corpus2skill.adapters.store.spending import add_spending, dollars_spent, spending
from corpus2skill.domain.model_call import Purpose, TextReply
from corpus2skill.domain.usage import SpentCall, UsageLine
from corpus2skill.errors import Busy, Damaged, WorkspaceUnusable
from corpus2skill.ports.result_store import PaidResult, PastUsage

_MOST_AT_ONCE = 256
"""Calls answered by one statement or commit. Databases bound how many values a statement may name."""
_BY_KEYS = select(RESULTS.c.key, RESULTS.c.reply).where(
    RESULTS.c.tenant == bindparam("of_tenant"), RESULTS.c.key.in_(bindparam("keys", expanding=True))
)
"""Made once: it is asked before every paid call."""
_ADD = insert(RESULTS)
_CONTENTS = Contents(
    metadata=METADATA,
    meta=META,
    schema=SCHEMA,
    name="results",
    upgrade=upgrade,
    damaged=lambda file: Damaged("results_damaged", file=file),
    busy=lambda path: Busy("results_busy", path=path),
)


def results_url(workspace: Path) -> URL:
    """Return the URL of the paid results of a workspace folder."""
    return URL.create("sqlite", database=str(workspace / "results.db"))


class SqlResultStore:
    """`ports.result_store.ResultStore` over SQLAlchemy.

    Calls that come while a commit is under way are committed together by the next one: one wait for the
    disk serves them all. Reading and writing have a thread each, so that the event loop never waits.
    """

    def __init__(self, url: str | URL, tenant: str = OWNER) -> None:
        self._tenant = storable(tenant)
        self._database = Database(url, _CONTENTS)
        self._finding = Gathering("results-find", self._find, _MOST_AT_ONCE)
        self._keeping = Gathering("results-keep", self._keep, _MOST_AT_ONCE)

    async def find(self, key: str) -> TextReply | None:
        return await self._finding.ask(key)

    async def keep(self, result: PaidResult) -> None:
        """Keep a result. It is kept, too, where the one who waits is cancelled."""
        await self._keeping.ask(result)

    async def note(self, call: SpentCall) -> None:
        await asyncio.to_thread(
            self._database.write, lambda connection: add_spending(connection, self._tenant, [call])
        )

    def usage(self, since: str, until: str) -> tuple[UsageLine, ...]:
        return self._database.read(lambda connection: spending(connection, self._tenant, since, until), ())

    def spent(self, since: str) -> float:
        return self._database.read(lambda connection: dollars_spent(connection, self._tenant, since), 0.0)

    def past_usage(self, model: str, purpose: Purpose) -> PastUsage:
        sums = (RESULTS.c.prompt_characters, RESULTS.c.input_tokens, RESULTS.c.output_tokens)
        query = select(func.count(), *(func.coalesce(func.sum(column), 0) for column in sums)).where(
            RESULTS.c.tenant == self._tenant, RESULTS.c.model == storable(model), RESULTS.c.purpose == purpose
        )
        found = self._database.read(lambda connection: connection.execute(query).one(), (0, 0, 0, 0))
        calls, prompt_characters, input_tokens, output_tokens = map(int, found)
        return PastUsage(
            calls=calls,
            prompt_characters=prompt_characters,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
        )

    def forget(self, corpus: str, subjects: Collection[str]) -> int:
        deleted, tenant = 0, self._tenant
        if self._database.read(lambda connection: _is_any(connection, tenant, corpus), empty=False):
            deleted = self._database.write(lambda connection: _delete(connection, tenant, corpus, subjects))
        self._database.wipe()
        return deleted

    def close(self) -> None:
        """Finish what was asked, and give back threads and connections; the store may be used again."""
        self._finding.close()
        self._keeping.close()
        self._database.close()

    def _find(self, keys: Sequence[str]) -> Sequence[TextReply | Exception | None]:
        asked = {"of_tenant": self._tenant, "keys": keys}
        rows = self._database.read(lambda connection: connection.execute(_BY_KEYS, asked).all(), ())
        replies = {str(key): self._reply(str(key), str(reply)) for key, reply in rows}
        return [replies.get(key) for key in keys]

    def _reply(self, key: str, text: str) -> TextReply | Exception:
        try:
            return decode(text.encode("utf-8"), TextReply)
        except ValueError:
            return self._database.damaged(key)

    def _keep(self, results: Sequence[PaidResult]) -> Sequence[Exception | None]:
        """Commit all together; where the disk refuses, each alone, for some may still find room."""
        try:
            self._database.write(self._insertion(results))
        except WorkspaceUnusable as error:
            if len(results) == 1:
                return [error]
            return [answer for result in results for answer in self._keep([result])]
        return [None] * len(results)

    def _insertion(self, results: Sequence[PaidResult]) -> Callable[[Connection], None]:
        """Return what adds the results that are not there yet.

        Hardly ever is one there. It is looked for only where the primary key has said so, and the work is done
        again: because another writer was quicker, or because one key came twice.
        """
        by_key = {result.key: result for result in reversed(results)}
        rows = {key: _row(self._tenant, result) for key, result in by_key.items()}
        is_again = False

        def insert_new(connection: Connection) -> None:
            nonlocal is_again
            kept = _kept_among(connection, self._tenant, rows) if is_again else ()
            is_again = True
            new = {key: row for key, row in rows.items() if key not in kept}
            if new:
                connection.execute(_ADD, list(new.values()))
                add_spending(connection, self._tenant, (_spent(by_key[key]) for key in new))

        return insert_new


def _kept_among(connection: Connection, tenant: str, keys: Iterable[str]) -> set[str]:
    asked = {"of_tenant": tenant, "keys": list(keys)}
    return {str(key) for key, _ in connection.execute(_BY_KEYS, asked)}


def _row(tenant: str, result: PaidResult) -> Mapping[str, object]:
    return {
        "tenant": tenant,
        "key": result.key,
        "corpus": storable(result.corpus),
        "model": storable(result.model),
        "purpose": result.purpose,
        "subject": storable(result.subject),
        "prompt_characters": result.prompt_characters,
        "input_tokens": result.reply.usage.input_tokens,
        "output_tokens": result.reply.usage.output_tokens,
        "dollars": result.dollars,
        "paid_at": result.paid_at.isoformat(timespec="milliseconds"),
        "reply": encode(result.reply).decode("utf-8"),
    }


def _spent(result: PaidResult) -> SpentCall:
    return SpentCall(
        corpus=result.corpus,
        model=result.model,
        purpose=result.purpose,
        usage=result.reply.usage,
        dollars=result.dollars,
        paid_at=result.paid_at,
    )


def _is_any(connection: Connection, tenant: str, corpus: str) -> bool:
    query = select(RESULTS.c.key).where(_is_of(tenant, corpus)).limit(1)
    return connection.execute(query).first() is not None or has_batches(connection, tenant, corpus)


def _delete(connection: Connection, tenant: str, corpus: str, subjects: Collection[str]) -> int:
    deleted = 0
    for part in _parts(["", *subjects]):
        of_part = and_(_is_of(tenant, corpus), RESULTS.c.subject.in_(list(map(storable, part))))
        deleted += connection.execute(delete(RESULTS).where(of_part)).rowcount
    forget_calls(connection, tenant, corpus, subjects)
    return deleted


def _is_of(tenant: str, corpus: str) -> ColumnElement[bool]:
    return and_(RESULTS.c.tenant == tenant, RESULTS.c.corpus == storable(corpus))


def _parts(subjects: Iterable[str]) -> Iterator[Sequence[str]]:
    unique = list(dict.fromkeys(subjects))
    for begin in range(0, len(unique), _MOST_AT_ONCE):
        yield unique[begin : begin + _MOST_AT_ONCE]
