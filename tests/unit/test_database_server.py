"""The server's database in PostgreSQL when it goes away, is slow or refuses."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Connection, make_url, text

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.records import SqlRecordStore
from corpus2skill.adapters.store.results import SqlResultStore
from corpus2skill.adapters.store.state.event_log import SqlEventLog
from corpus2skill.adapters.store.state.state_database import open_state
from corpus2skill.domain.event_log import NewEvent
from corpus2skill.errors import WorkspaceUnusable
from corpus2skill.messages import error_message
from corpus2skill.ports.store import RecordFilter
from tests.fakes.clock import FakeClock
from tests.fakes.postgres_cluster import PostgresCluster
from tests.ports.results import key_of, reply, result
from tests.ports.runs import record


@pytest.fixture
def state(postgres_url: str) -> Iterator[Database]:
    opened = open_state(make_url(postgres_url))
    yield opened
    opened.close()


def test_a_restarted_database_is_found_again_at_once(
    state: Database, postgres_cluster: PostgresCluster
) -> None:
    """Issue 6: the database gone in the middle of everything; what was lost is tried again once."""
    log = SqlEventLog(state, FakeClock())
    log.append("acme", "t", [NewEvent(kind="a", payload={})])
    postgres_cluster.stop()
    with pytest.raises(WorkspaceUnusable) as gone:
        log.append("acme", "t", [NewEvent(kind="b", payload={})])
    with pytest.raises(WorkspaceUnusable):
        log.since("acme", "t", 0)
    postgres_cluster.start()
    assert gone.value.code == "database_gone"
    assert "postgresql+psycopg://" in error_message("ja", gone.value)
    assert log.append("acme", "t", [NewEvent(kind="c", payload={})]) == 2
    assert [one.kind for one in log.since("acme", "t", 0)] == ["a", "c"]


def test_a_connection_that_dies_before_the_commit_is_tried_again_once(state: Database) -> None:
    """Nothing was written then: the work runs again on another connection."""
    log, tries = SqlEventLog(state, FakeClock()), []
    log.append("acme", "t", [])

    def work(connection: Connection) -> str:
        tries.append(1)
        if len(tries) == 1:
            connection.execute(text("SELECT pg_terminate_backend(pg_backend_pid())"))
        return "done"

    assert state.write(work) == "done"
    assert len(tries) == 2


def test_a_wrong_database_is_refused_with_what_to_do_and_without_the_password(postgres_url: str) -> None:
    """No secret in an error."""
    wrong = postgres_url.replace("tester@/test_", "tester:geheim@/nothing_")
    with pytest.raises(WorkspaceUnusable) as refused:
        open_state(make_url(wrong)).write(lambda connection: None)
    assert refused.value.code == "database_gone" or refused.value.code == "database_refused"
    assert "geheim" not in error_message("en", refused.value)


def test_nothing_is_written_twice_where_many_make_the_tables(postgres_url: str) -> None:
    """Two processes may begin at the same moment."""

    def begin(number: int) -> int:
        own = open_state(make_url(postgres_url))
        return SqlEventLog(own, FakeClock()).append("acme", f"{number}", [NewEvent(kind="a", payload={})])

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(begin, range(16))) == [1] * 16


@pytest.mark.anyio
async def test_tenants_share_one_database_and_not_their_results(postgres_url: str) -> None:
    """Issue 6: every row belongs to a tenant; what is deleted of one stays of the other."""
    acme, other = SqlResultStore(postgres_url, "acme"), SqlResultStore(postgres_url, "other")
    await acme.keep(result("a", text="甲"))
    assert await other.find(key_of("a")) is None
    await other.keep(result("a", text="乙"))
    assert acme.forget("terms", ["chunk"]) == 1
    assert await acme.find(key_of("a")) is None
    assert await other.find(key_of("a")) == reply("乙")
    assert other.past_usage("fake:model", "summarize").calls == 1
    assert acme.past_usage("fake:model", "summarize").calls == 0
    acme.close()
    other.close()


@pytest.mark.anyio
async def test_state_results_and_records_lie_in_one_database(postgres_url: str, state: Database) -> None:
    """One URL is all that an operator names."""
    records, results = SqlRecordStore(postgres_url, FakeClock()), SqlResultStore(postgres_url)
    SqlEventLog(state, FakeClock()).append("acme", "t", [NewEvent(kind="a", payload={})])
    records.close_run(record("run_1"))
    await results.keep(result("a"))
    assert [found.ids.run for found in records.records("local", RecordFilter())] == ["run_1"]
    assert await results.find(key_of("a")) == reply()
    results.close()
