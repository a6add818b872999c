"""Paid results in a database, written in groups and found by key."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from sqlalchemy import URL, Connection, and_, bindparam, delete, func, insert, select

from corpus2skill.adapters.store.batch_log import forget_calls, has_batches
from corpus2skill.adapters.store.database import Contents, Database
from corpus2skill.adapters.store.encoding import decode, encode
from corpus2skill.adapters.store.gathering import Gathering
from corpus2skill.adapters.store.record_chain import storable
from corpus2skill.adapters.store.result_tables import META, METADATA, RESULTS, SCHEMA
from corpus2skill.domain.model_call import Purpose, TextReply
from corpus2skill.errors import Busy, Damaged, WorkspaceUnusable
from corpus2skill.ports.result_store import PaidResult, PastUsage

_MOST_AT_ONCE = 256
"""Calls answered by one statement or commit. Databases bound how many values a statement may name."""
_BY_KEYS = select(RESULTS.c.key, RESULTS.c.reply).where(RESULTS.c.key.in_(bindparam("keys", expanding=True)))
"""Made once: it is asked before every paid call."""
_CONTENTS = Contents(
    metadata=METADATA,
    meta=META,
    schema=SCHEMA,
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

    def __init__(self, url: str | URL) -> None:
        self._database = Database(url, _CONTENTS)
        self._finding = Gathering("results-find", self._find, _MOST_AT_ONCE)
        self._keeping = Gathering("results-keep", self._keep, _MOST_AT_ONCE)

    async def find(self, key: str) -> TextReply | None:
        return await self._finding.ask(key)

    async def keep(self, result: PaidResult) -> None:
        """Keep a result. It is kept, too, where the one who waits is cancelled."""
        await self._keeping.ask(result)

    def past_usage(self, model: str, purpose: Purpose) -> PastUsage:
        sums = (RESULTS.c.prompt_characters, RESULTS.c.input_tokens, RESULTS.c.output_tokens)
        query = select(func.count(), *(func.coalesce(func.sum(column), 0) for column in sums)).where(
            RESULTS.c.model == storable(model), RESULTS.c.purpose == purpose
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
        deleted = 0
        if self._database.read(lambda connection: _is_any(connection, corpus), empty=False):
            deleted = self._database.write(lambda connection: _delete(connection, corpus, subjects))
        self._database.wipe()
        return deleted

    def close(self) -> None:
        """Finish what was asked, and give back threads and connections; the store may be used again."""
        self._finding.close()
        self._keeping.close()
        self._database.close()

    def _find(self, keys: Sequence[str]) -> Sequence[TextReply | Exception | None]:
        asked = {"keys": keys}
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
            self._database.write(lambda connection: _insert(connection, results))
        except WorkspaceUnusable as error:
            if len(results) == 1:
                return [error]
            return [answer for result in results for answer in self._keep([result])]
        return [None] * len(results)


def _insert(connection: Connection, results: Sequence[PaidResult]) -> None:
    """Add what has no result yet. Two writers of one key meet in the primary key, and one tries again."""
    rows = {result.key: _row(result) for result in reversed(results)}
    query = select(RESULTS.c.key).where(RESULTS.c.key.in_(list(rows)))
    for kept in connection.scalars(query):
        del rows[str(kept)]
    if rows:
        connection.execute(insert(RESULTS), list(rows.values()))


def _row(result: PaidResult) -> Mapping[str, object]:
    return {
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


def _is_any(connection: Connection, corpus: str) -> bool:
    query = select(RESULTS.c.key).where(RESULTS.c.corpus == storable(corpus)).limit(1)
    return connection.execute(query).first() is not None or has_batches(connection, corpus)


def _delete(connection: Connection, corpus: str, subjects: Collection[str]) -> int:
    deleted = 0
    for part in _parts(["", *subjects]):
        of_part = and_(RESULTS.c.corpus == storable(corpus), RESULTS.c.subject.in_(list(map(storable, part))))
        deleted += connection.execute(delete(RESULTS).where(of_part)).rowcount
    forget_calls(connection, corpus, subjects)
    return deleted


def _parts(subjects: Iterable[str]) -> Iterator[Sequence[str]]:
    unique = list(dict.fromkeys(subjects))
    for begin in range(0, len(unique), _MOST_AT_ONCE):
        yield unique[begin : begin + _MOST_AT_ONCE]
