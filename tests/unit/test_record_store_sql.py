"""Run records in SQLite: tampering, many processes, disks that cannot be written."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlalchemy import Connection

from corpus2skill.adapters.clock import SystemClock
from corpus2skill.adapters.store.database import Contents, Database
from corpus2skill.adapters.store.record_tables import META, METADATA, SCHEMA
from corpus2skill.adapters.store.records import SqlRecordStore, records_url
from corpus2skill.errors import Busy, Damaged, RecordNotFound, WorkspaceUnusable
from corpus2skill.messages import error_message, message
from corpus2skill.ports.store import Fault, RecordFilter
from tests.ports.runs import TENANT, ids, record, visit
from tests.unit.children import in_child, in_children, killed_at_statement, open_folder


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "作業 100%?#"


@pytest.fixture
def store(root: Path) -> SqlRecordStore:
    return open_store(root)


def open_store(root: Path) -> SqlRecordStore:
    return SqlRecordStore(records_url(root), SystemClock())


def _contents() -> Contents:
    return Contents(
        metadata=METADATA,
        meta=META,
        schema=SCHEMA,
        damaged=lambda file: Damaged("records_damaged", file=file),
        busy=lambda path: Busy("records_busy", path=path),
    )


def three_records(store: SqlRecordStore) -> None:
    for number in (1, 2, 3):
        store.close_run(record(f"run_{number}", turn=number))


def change(root: Path, *statements: str) -> None:
    """Change the database behind the store's back."""
    connection = sqlite3.connect(root / "records.db", isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def test_reading_makes_nothing(store: SqlRecordStore, root: Path) -> None:
    """A workspace without records has none, and gets none by being looked at."""
    assert list(store.records(TENANT, RecordFilter())) == []
    assert store.verify(TENANT).records == 0
    assert store.close_dead() == 0
    assert not root.exists()


def test_a_file_that_was_taken_away_is_not_taken_for_never_written(store: SqlRecordStore, root: Path) -> None:
    """Issue 6: the database gone in the middle of everything. Nothing is written where nobody finds it."""
    three_records(store)
    (root / "records.db").rename(root / "away.db")
    for use in (lambda: store.verify(TENANT), lambda: store.close_run(record("run_4", turn=4))):
        with pytest.raises(WorkspaceUnusable) as gone:
            use()
        assert gone.value.code == "database_file_gone"
    (root / "away.db").rename(root / "records.db")
    assert store.verify(TENANT).records == 3


def test_records_are_written_so_that_a_power_cut_loses_none(store: SqlRecordStore, root: Path) -> None:
    """design.md, section 6: WAL; and design.md, section 7: any character in the workspace's name."""
    three_records(store)
    with sqlite3.connect(root / "records.db") as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    connection.close()


@pytest.mark.parametrize(
    ("statements", "faults"),
    [
        (
            ["UPDATE records SET payload = replace(payload, '末日', '月末') WHERE seq = 2"],
            [Fault(code="record_changed", file="run_2", detail="2")],
        ),
        (
            ["UPDATE records SET outcome = 'not_found' WHERE seq = 2"],
            [Fault(code="record_changed", file="run_2", detail="2")],
        ),
        (
            ["UPDATE records SET payload = NULL WHERE seq = 3"],
            [Fault(code="record_changed", file="run_3", detail="3")],
        ),
        (
            ["UPDATE records SET tombstoned_at = '2026-05-01' WHERE seq = 3"],
            [Fault(code="record_changed", file="run_3", detail="3")],
        ),
        (
            ["DELETE FROM records WHERE seq = 1"],
            [Fault(code="record_missing", file="1", detail="run_2")],
        ),
        (
            ["DELETE FROM records WHERE seq < 3"],
            [Fault(code="record_missing", file="1-2", detail="run_3")],
        ),
        (
            [
                "UPDATE records SET seq = 9 WHERE seq = 2",
                "UPDATE records SET seq = 2 WHERE seq = 3",
                "UPDATE records SET seq = 3 WHERE seq = 9",
            ],
            [
                Fault(code="record_out_of_order", file="run_3", detail="2"),
                Fault(code="record_changed", file="run_3", detail="2"),
                Fault(code="record_out_of_order", file="run_2", detail="3"),
                Fault(code="record_changed", file="run_2", detail="3"),
            ],
        ),
    ],
)
def test_tampering_shows(
    store: SqlRecordStore, root: Path, statements: list[str], faults: list[Fault]
) -> None:
    """design.md: a changed, missing or reordered record shows."""
    three_records(store)
    assert store.verify(TENANT).faults == ()
    change(root, *statements)
    assert list(store.verify(TENANT).faults) == faults
    for fault in faults:
        for language in ("ja", "en"):
            assert fault.file in message(
                language, f"fault.{fault.code}", file=fault.file, detail=fault.detail
            )


def test_a_cut_tail_shows_against_a_kept_head(store: SqlRecordStore, root: Path) -> None:
    """design.md: which `records verify` prints."""
    three_records(store)
    head = store.verify(TENANT).head
    change(root, "DELETE FROM records WHERE seq = 3")
    verdict = store.verify(TENANT)
    assert verdict.faults == ()
    assert verdict.head != head
    (fault,) = store.verify(TENANT, head).faults
    assert (fault.code, fault.file) == ("head_missing", head)


def test_what_a_day_has_cost_is_summed_from_an_index_alone(store: SqlRecordStore, root: Path) -> None:
    """It is asked before every round under a limit: no record is read for it, however many there are."""
    three_records(store)
    connection = sqlite3.connect(root / "records.db")
    query = "SELECT sum(usd) FROM records WHERE tenant = ? AND started_at >= ?"
    (plan,) = connection.execute(f"EXPLAIN QUERY PLAN {query}", (TENANT, "2026-04-01")).fetchall()
    connection.close()
    assert "COVERING INDEX records_by_day (tenant=? AND started_at>?)" in plan[-1]


def test_a_lasting_write_waits_for_the_disk_and_one_on_the_way_does_not(root: Path) -> None:
    """A closed record outlasts a power cut; a visit outlasts the process, and holds up no other run."""
    database = Database(records_url(root), _contents())

    def synchronous(connection: Connection) -> object:
        return connection.exec_driver_sql("PRAGMA synchronous").scalar()

    assert (database.write(synchronous), database.write(synchronous, outlasts_power_cut=False)) == (2, 1)


def test_a_tombstone_leaves_the_chain_whole(store: SqlRecordStore, root: Path) -> None:
    """design.md: deleting replaces the payload by a dated tombstone, and the chain still verifies."""
    three_records(store)
    head = store.verify(TENANT).head
    change(root, "UPDATE records SET payload = NULL, tombstoned_at = '2026-05-01T00:00:00Z' WHERE seq = 2")
    verdict = store.verify(TENANT)
    assert (verdict.records, verdict.faults, verdict.head) == (3, (), head)
    assert [found.ids.run for found in store.records(TENANT, RecordFilter())] == ["run_3", "run_1"]
    assert len(store.session(TENANT, "s", "terms").turns) == 2
    with pytest.raises(RecordNotFound) as deleted:
        store.record(TENANT, "run_2")
    assert "2026-05-01" in error_message("ja", deleted.value)
    store.close_run(record("run_4"))
    assert store.verify(TENANT).faults == ()


def test_nothing_that_was_said_stands_in_a_header(store: SqlRecordStore, root: Path) -> None:
    """design.md: a tombstone leaves no personal text behind."""
    store.close_run(record("run_1", question="山田花子です", answer="山田様", visits=(visit(1),)))
    store.tombstone(TENANT, ["run_1"])
    store.close()
    left = b"".join(path.read_bytes() for path in root.glob("records.db*"))
    assert "山田".encode() not in left


def test_processes_that_close_runs_at_once_make_one_chain(store: SqlRecordStore, root: Path) -> None:
    """Promised by the port: appended in one transaction, whoever else is appending."""

    def twenty(name: str) -> str:
        own = open_store(root)
        for number in range(20):
            run = f"run_{name}{number}"
            own.open_run(ids(run), record(run), 60)
            own.add_visit(ids(run), visit(1))
            own.close_run(record(run))
        return "done"

    assert [ended.said for ended in in_children([lambda name=name: twenty(name) for name in "abc"])] == [
        "done"
    ] * 3
    verdict = store.verify(TENANT)
    assert (verdict.records, verdict.faults) == (60, ())


def test_a_run_killed_at_any_moment_is_recorded_once(root: Path) -> None:
    """The article: 記録は落としてはいけない. Kill -9 before every statement, one after the other."""
    store = open_store(root)
    moment, is_through = 0, False
    while not is_through:
        run = f"run_{moment}"
        opening = record(run, outcome="stopped", answer="")
        store.open_run(opening.ids, opening, 0)

        def work(moment: int = moment, run: str = run) -> None:
            own = open_store(root)
            killed_at_statement(moment)
            own.add_visit(ids(run), visit(1))
            own.close_run(record(run, visits=(visit(1),)))

        is_through = not in_child(work).was_killed
        was_open = store.close_dead() == 1
        assert not (was_open and is_through)
        assert store.record(TENANT, run).outcome == ("stopped" if was_open else "answered")
        moment += 1
    assert moment > 10
    verdict = store.verify(TENANT)
    assert (verdict.records, verdict.faults) == (moment, ())


def test_a_read_only_workspace_can_be_read_and_says_why_it_cannot_be_written() -> None:
    """Issue 2, bad input: tested as an ordinary user."""
    with open_folder() as folder:
        root = folder / "workspace"
        store = open_store(root)
        three_records(store)
        store.close()
        (root / "records.db").chmod(0o444)
        root.chmod(0o555)

        def read() -> object:
            own = open_store(root)
            assert len(own.session(TENANT, "s", "terms").turns) == 3
            return (own.verify(TENANT).records, own.record(TENANT, "run_2").answer)

        def write() -> object:
            open_store(root).close_run(record("run_4"))
            return "written"

        assert in_child(read, as_nobody=True).said == "(3, '末日までです。')"
        ended = in_child(write, as_nobody=True).said
        assert ended.startswith(("WorkspaceUnusable: read_only", "WorkspaceUnusable: no_rights"))
        root.chmod(0o755)


def test_a_workspace_that_cannot_be_made_is_said() -> None:
    """Issue 2, bad input."""
    with open_folder() as folder:
        folder.chmod(0o555)
        ended = in_child(lambda: open_store(folder / "workspace").close_run(record("run_1")), as_nobody=True)
        assert ended.said.startswith("WorkspaceUnusable: no_rights")


def test_records_of_a_newer_release_are_neither_read_nor_written(store: SqlRecordStore, root: Path) -> None:
    """Issue 2, bad input."""
    three_records(store)
    store.close()
    change(root, "UPDATE meta SET value = '99' WHERE key = 'schema'")
    own = open_store(root)
    for ask in (
        lambda: own.verify(TENANT),
        lambda: own.record(TENANT, "run_1"),
        lambda: own.close_run(record("run_4")),
    ):
        with pytest.raises(WorkspaceUnusable) as unusable:
            ask()
        assert unusable.value.code == "workspace_newer"


def test_a_file_that_is_no_database_is_named(store: SqlRecordStore, root: Path) -> None:
    """Issue 2, bad input."""
    root.mkdir()
    (root / "records.db").write_text("これはデータベースではありません。" * 100, encoding="utf-8")
    for ask in (lambda: store.verify(TENANT), lambda: store.close_run(record("run_1"))):
        with pytest.raises(Damaged) as damaged:
            ask()
        assert "records.db" in error_message("ja", damaged.value)


def test_an_empty_database_has_no_records_and_takes_some(store: SqlRecordStore, root: Path) -> None:
    """A process killed before it made the tables leaves an empty file."""
    root.mkdir()
    (root / "records.db").write_bytes(b"")
    assert store.verify(TENANT).records == 0
    three_records(store)
    assert store.verify(TENANT).records == 3


def test_a_record_whose_text_was_broken_is_damaged_not_invented(store: SqlRecordStore, root: Path) -> None:
    """Promised by errors.py: Damaged."""
    three_records(store)
    change(root, "UPDATE records SET payload = '{' WHERE seq = 2")
    with pytest.raises(Damaged) as damaged:
        store.record(TENANT, "run_2")
    assert "run_2" in str(damaged.value)


def test_a_question_that_is_not_unicode_is_recorded_all_the_same(store: SqlRecordStore) -> None:
    """A lost record may not happen, whatever the shell handed in."""
    closed = record("run_1", question="\udc89\udcf0\udc96\udcf1", session="\udcff\0")
    store.close_run(closed)
    assert store.record(TENANT, "run_1") == closed
    assert store.session(TENANT, "\udcff\0", "terms").turns[0].question == closed.question
    assert store.verify(TENANT).faults == ()


@pytest.mark.parametrize("language", ["ja", "en"])
def test_every_refusal_has_its_sentence(language: str) -> None:
    """House rule: both languages."""
    for error in (
        RecordNotFound(run="run_1"),
        RecordNotFound("record_ambiguous", run="run_1", records=2),
        RecordNotFound("record_deleted", run="run_1", at="2026-05-01"),
        Busy("records_busy", path="run_1"),
    ):
        assert "run_1" in error_message(language, error)
