"""Paid results in SQLite: full disks, kills, many processes, damage, and deleting for good."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Coroutine, Iterator
from pathlib import Path

import pytest

from corpus2skill.adapters.store.results import SqlResultStore, results_url
from corpus2skill.errors import Busy, Damaged, WorkspaceUnusable
from corpus2skill.messages import error_message
from corpus2skill.ports.result_store import PaidResult
from tests.ports.results import key_of, reply, result
from tests.unit.children import in_child, in_children, killed_at_statement

pytestmark = pytest.mark.anyio
MARKER = "山田花子の解約理由"
LONG = MARKER + "。年額プランの解約は、契約管理画面から行う。" * 400


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "作業 100%?#"


@pytest.fixture
def store(root: Path) -> Iterator[SqlResultStore]:
    opened = open_store(root)
    yield opened
    opened.close()


def open_store(root: Path) -> SqlResultStore:
    return SqlResultStore(results_url(root))


def keep_all(root: Path, *results: PaidResult) -> str:
    """Keep results one after the other with a store of its own; for a child process."""

    async def work() -> None:
        for one in results:
            await own.keep(one)

    own = open_store(root)
    run(work())
    own.close()
    return "kept"


def run(work: Coroutine[None, None, object]) -> None:
    """Run in a new loop. A fork of an async test has the loop of its parent, which it is not to use."""
    loop = asyncio.new_event_loop()
    asyncio.events._set_running_loop(None)
    try:
        loop.run_until_complete(work)
    finally:
        loop.close()


def change(root: Path, *statements: str) -> None:
    """Change the database behind the store's back."""
    connection = sqlite3.connect(root / "results.db", isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def bytes_of(root: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(root.glob("results.db*")))


def is_there(root: Path) -> bool:
    return root.exists()


def write_nonsense(root: Path) -> None:
    root.mkdir()
    (root / "results.db").write_text("これはデータベースではありません。" * 100, encoding="utf-8")


async def test_looking_makes_nothing(store: SqlResultStore, root: Path) -> None:
    """A workspace without results gets none by being looked at, nor by being told to forget."""
    assert await store.find(key_of("a")) is None
    assert store.past_usage("fake:model", "summarize").calls == 0
    assert store.forget("terms", ["a"]) == 0
    assert not is_there(root)


async def test_results_are_written_so_that_a_power_cut_loses_none(store: SqlResultStore, root: Path) -> None:
    """design.md, section 6: WAL and synchronous=FULL, so that a commit waits for the disk."""
    await store.keep(result("a"))
    with store._database._engine("rwc").connect() as connection:
        modes = [
            connection.exec_driver_sql(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous")
        ]
    assert modes == ["wal", 2]


async def test_what_is_forgotten_cannot_be_read_from_the_files(store: SqlResultStore, root: Path) -> None:
    """Field report 7; promised by the port: nothing of them can be read from the file afterwards."""
    await store.keep(result("other", text="残る返答", subject="other"))
    for number in range(20):
        await store.keep(result(f"{number}", text=LONG, subject="gone"))
    assert MARKER.encode() in bytes_of(root)
    assert store.forget("terms", ["gone"]) == 20
    left = bytes_of(root)
    assert MARKER.encode() not in left
    assert "契約管理画面".encode() not in left
    assert key_of("3").encode() not in left
    assert await store.find(key_of("other")) == reply("残る返答")


async def test_forgetting_again_finishes_what_a_reader_had_prevented(
    store: SqlResultStore, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Promised by the port: nothing is said to be forgotten while the log still has it."""
    monkeypatch.setattr("corpus2skill.adapters.store.engines.BUSY_SECONDS", 0.05)
    await store.keep(result("gone", text=LONG, subject="gone"))
    reader = sqlite3.connect(root / "results.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM results").fetchone()
    with pytest.raises(Busy) as busy:
        store.forget("terms", ["gone"])
    assert "results.db" in error_message("ja", busy.value)
    reader.close()
    assert store.forget("terms", ["gone"]) == 0
    assert MARKER.encode() not in bytes_of(root)


async def test_a_full_disk_is_said_and_loses_nothing_that_was_kept(store: SqlResultStore, root: Path) -> None:
    """Issue 4, bad input: a full disk while storing a result."""
    await store.keep(result("before"))
    store.close()
    size = len(bytes_of(root))
    ended = in_child(
        lambda: keep_all(root, *(result(f"{n}", text=LONG) for n in range(50))), file_size=size + 100_000
    )
    assert ended.said.startswith("WorkspaceUnusable")
    own = open_store(root)
    assert await own.find(key_of("before")) == reply()
    assert await own.find(key_of("0")) == reply(LONG)
    assert await own.find(key_of("49")) is None
    await own.keep(result("49", text=LONG))
    assert await own.find(key_of("49")) == reply(LONG)
    own.close()


async def test_where_there_is_room_for_some_those_are_kept(store: SqlResultStore, root: Path) -> None:
    """A reply that was paid for is kept if it can be, whoever else it was to be committed with."""
    await store.keep(result("before"))
    with store._database._engine("rwc").connect() as connection:
        pages = int(str(connection.exec_driver_sql("PRAGMA page_count").scalar()))
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages + 2}")
    kept = await asyncio.gather(
        *(store.keep(result(f"{n}", text="短い" if n % 2 else LONG)) for n in range(6)),
        return_exceptions=True,
    )
    refused = [n for n, answer in enumerate(kept) if isinstance(answer, WorkspaceUnusable)]
    assert refused == [0, 2, 4]
    assert [answer.code for answer in kept if isinstance(answer, WorkspaceUnusable)] == ["disk_full"] * 3
    assert [await store.find(key_of(f"{n}")) is None for n in range(6)] == [True, False] * 3


async def test_two_processes_on_one_workspace_keep_all(store: SqlResultStore, root: Path) -> None:
    """Issue 4, bad input: two processes on one workspace; the first result of a key stays."""

    def work(name: str) -> str:
        own = [result(f"{name}{n}", text=name) for n in range(40)]
        return keep_all(root, *own, *(result(f"both {n}", text=name) for n in range(40)))

    ended = in_children([lambda name=name: work(name) for name in "abc"])
    assert [one.said for one in ended] == ["kept"] * 3
    assert store.past_usage("fake:model", "summarize").calls == 160
    for n in range(40):
        found = await store.find(key_of(f"both {n}"))
        assert found in [reply(name) for name in "abc"]


async def test_a_process_killed_at_any_moment_leaves_whole_results(root: Path) -> None:
    """Issue 4: SIGKILL. Kill -9 before every statement, one after the other."""
    moment, is_through = 0, False
    while not is_through:

        def work(moment: int = moment) -> None:
            own = open_store(root)
            killed_at_statement(moment)
            own._keep([result(f"{moment} {n}") for n in range(3)])

        is_through = not in_child(work).was_killed
        own = open_store(root)
        found = [await own.find(key_of(f"{moment} {n}")) for n in range(3)]
        assert found in ([None] * 3, [reply()] * 3)
        await own.keep(result(f"after {moment}"))
        own.close()
        moment += 1
    assert found == [reply()] * 3
    assert moment > 5


async def test_a_file_that_is_no_database_is_named(store: SqlResultStore, root: Path) -> None:
    """Issue 4: a damaged file is named, with what to do."""
    write_nonsense(root)
    for ask in (store.find(key_of("a")), store.keep(result("a"))):
        with pytest.raises(Damaged) as damaged:
            await ask
        assert "results.db" in error_message("ja", damaged.value)
        assert "results.db" in error_message("en", damaged.value)
    with pytest.raises(Damaged):
        store.past_usage("fake:model", "summarize")


async def test_a_reply_that_was_broken_is_damaged_not_invented(store: SqlResultStore, root: Path) -> None:
    """Promised by errors.py: Damaged. The other replies sought with it are found."""
    await store.keep(result("a"))
    await store.keep(result("b"))
    change(root, f"UPDATE results SET reply = '{{' WHERE key = '{key_of('a')}'")
    found = await asyncio.gather(store.find(key_of("a")), store.find(key_of("b")), return_exceptions=True)
    assert isinstance(found[0], Damaged)
    assert found[1] == reply()


async def test_results_of_a_newer_release_are_neither_read_nor_written(
    store: SqlResultStore, root: Path
) -> None:
    """Paid results are not lost to an older release that would write over them."""
    await store.keep(result("a"))
    store.close()
    change(root, "UPDATE meta SET value = '99' WHERE key = 'schema'")
    own = open_store(root)
    for ask in (own.find(key_of("a")), own.keep(result("b"))):
        with pytest.raises(WorkspaceUnusable) as unusable:
            await ask
        assert unusable.value.code == "workspace_newer"
    own.close()


async def test_a_result_is_kept_though_nobody_waits_any_more(store: SqlResultStore) -> None:
    """A reply that came is kept even if the task is being cancelled."""
    waiting = asyncio.create_task(store.keep(result("a")))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    store.close()
    assert await store.find(key_of("a")) == reply()


async def test_closing_finishes_what_was_asked(store: SqlResultStore) -> None:
    """Nothing that was handed over is dropped."""
    waiting = [asyncio.ensure_future(store.keep(result(f"{n}"))) for n in range(30)]
    await asyncio.sleep(0)
    store.close()
    await asyncio.gather(*waiting)
    assert store.past_usage("fake:model", "summarize").calls == 30


async def test_results_of_an_older_release_are_found_and_added_to(root: Path) -> None:
    """An upgrade pays nothing again: a file from before there were tenants is of one alone."""
    store = open_store(root)
    await store.keep(result("a"))
    store.close()
    change(root, "ALTER TABLE results RENAME TO newer")
    change(root, "CREATE TABLE results AS SELECT * FROM newer")
    change(root, "ALTER TABLE results DROP COLUMN tenant", "DROP TABLE batches", "DROP TABLE batch_calls")
    change(root, "DROP TABLE spent")
    change(root, "UPDATE meta SET value = '1' WHERE key = 'schema'")
    own = open_store(root)
    assert await own.find(key_of("a")) == reply()
    await own.keep(result("b"))
    assert await own.find(key_of("b")) == reply()
    assert [line.calls for line in own.usage("2000-01-01", "2100-01-01")] == [2]
    own.close()
