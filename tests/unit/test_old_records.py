"""Records that an older release wrote: still read, still verified, gone on with."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from corpus2skill.adapters.store.encoding import canonical, decode, sha256
from corpus2skill.adapters.store.records import SqlRecordStore, records_url
from corpus2skill.domain.run import RunRecord
from corpus2skill.errors import WorkspaceUnusable
from corpus2skill.ports.store import RecordFilter
from tests.fakes.clock import FakeClock
from tests.ports.runs import TENANT, ids, record, visit
from tests.unit.children import in_child, open_folder

# As release 0.1 wrote them.
TABLES = """
CREATE TABLE meta ("key" VARCHAR NOT NULL, value VARCHAR NOT NULL, PRIMARY KEY ("key"));
CREATE TABLE open_runs (tenant VARCHAR NOT NULL, run VARCHAR NOT NULL, corpus VARCHAR NOT NULL,
  version BIGINT NOT NULL, lease_until FLOAT NOT NULL, opening TEXT NOT NULL, PRIMARY KEY (tenant, run));
CREATE TABLE open_visits (tenant VARCHAR NOT NULL, run VARCHAR NOT NULL, number INTEGER NOT NULL,
  visit TEXT NOT NULL, PRIMARY KEY (tenant, run, number));
CREATE TABLE chains (tenant VARCHAR NOT NULL, PRIMARY KEY (tenant));
CREATE TABLE records (tenant VARCHAR NOT NULL, seq BIGINT NOT NULL, run VARCHAR NOT NULL,
  corpus VARCHAR NOT NULL, version BIGINT NOT NULL, session VARCHAR NOT NULL, turn INTEGER NOT NULL,
  channel VARCHAR NOT NULL, door VARCHAR NOT NULL, language VARCHAR NOT NULL, outcome VARCHAR NOT NULL,
  model VARCHAR NOT NULL, prompt_version VARCHAR NOT NULL, started_at VARCHAR NOT NULL,
  ended_at VARCHAR NOT NULL, payload TEXT, payload_sha256 VARCHAR(64) NOT NULL,
  previous_hash VARCHAR(64) NOT NULL, hash VARCHAR(64) NOT NULL, tombstoned_at VARCHAR,
  PRIMARY KEY (tenant, seq), UNIQUE (tenant, run));
CREATE INDEX records_by_session ON records (tenant, session, turn);
CREATE INDEX records_by_version ON records (tenant, corpus, version);
INSERT INTO meta VALUES ('schema', '1');
INSERT INTO chains VALUES ('local');
"""
VISIT = (
    '{"number":1,"node":"doc_chunk_7","path":"cancellation/doc_chunk_7.md","title":"年額",'
    '"node_type":"document","status":"found","reason":"確認します","has_reason":true,'
    '"is_shared_reason":false,"is_prefetched":false,"offered":[],"doc_id":"doc_chunk_7","model_ms":900,'
    '"fetch_ms":1,"elapsed_ms":910,"usage":{"input_tokens":10,"output_tokens":2,"cached_tokens":0}}'
)
SOURCE = (
    '{"doc_id":"doc_chunk_7","title":"年額","source":"利用規約.docx","place":"第12条",'
    '"path":"cancellation/doc_chunk_7.md"}'
)
RECORD = (
    '{"ids":{"tenant":"local","corpus":"terms","version":1,"session":"s","turn":1,"run":"run_old"},'
    '"channel":"text","door":"cli","language":"ja","question":"年額プランの解約は？","answer":"末日までです。",'
    f'"outcome":"answered","confidence":"strong","visits":[{VISIT}],"evidence":[{SOURCE}],'
    f'"citations":[{SOURCE}],"struck_citations":0,"fetches":1,"rounds":2,"model":"offline",'
    '"prompt_version":"1","usage":{"input_tokens":10,"output_tokens":2,"cached_tokens":0},"usd":null,'
    '"started_at":"2026-04-01T09:00:00.000Z","ended_at":"2026-04-01T09:00:01.000Z","total_ms":1000,'
    '"is_truncated":false,"left_out_turns":0,"error_class":null,"error_detail":null}'
)


def write_old_records(root: Path) -> None:
    """One record, and one run that was under way when the release was changed."""
    plain = json.loads(RECORD)
    header = {
        **plain["ids"],
        "seq": 1,
        **{name: plain[name] for name in ("channel", "door", "language", "outcome", "model")},
        **{name: plain[name] for name in ("prompt_version", "started_at", "ended_at")},
    }
    digest = sha256(RECORD.encode())
    row = {
        **header,
        "payload": RECORD,
        "payload_sha256": digest,
        "previous_hash": "0" * 64,
        "hash": sha256(b"\n".join((canonical(header), digest.encode(), b"0" * 64))),
    }
    root.mkdir(parents=True)
    connection = sqlite3.connect(root / "records.db", isolation_level=None)
    connection.executescript(TABLES)
    columns, marks = ", ".join(row), ", ".join(f":{name}" for name in row)
    connection.execute(f"INSERT INTO records ({columns}) VALUES ({marks})", row)
    opening = RECORD.replace('"run_old"', '"run_open"').replace('"turn":1', '"turn":2')
    connection.execute("INSERT INTO open_runs VALUES ('local', 'run_open', 'terms', 1, 0, ?)", (opening,))
    connection.execute("INSERT INTO open_visits VALUES ('local', 'run_open', 1, ?)", (VISIT,))
    connection.close()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_old_records(tmp_path / "workspace")
    return tmp_path / "workspace"


@pytest.fixture
def store(root: Path) -> SqlRecordStore:
    return SqlRecordStore(records_url(root), FakeClock())


def test_an_old_record_is_read_with_what_it_lacks_left_empty() -> None:
    """Old records still decode."""
    old = decode(RECORD.encode(), RunRecord)
    assert (old.user, old.quotations, old.is_doubtful) == (None, (), False)
    assert (old.visits[0].source, old.visits[0].place) == (None, None)


def test_old_records_are_read_and_verified_and_gone_on_with(store: SqlRecordStore) -> None:
    """The chain of an older release holds, and grows."""
    assert store.verify(TENANT).faults == ()
    assert store.record(TENANT, "run_old").answer == "末日までです。"
    assert [found.ids.run for found in store.records(TENANT, RecordFilter(user="田中"))] == []
    assert store.session(TENANT, "s", "terms").next_turn == 2
    assert store.open_run(ids("run_new", turn=2), record("run_new", turn=2), 60) == 2
    store.add_visit(ids("run_new"), visit(1))
    store.close_run(record("run_new", turn=2))
    assert [found.ids.run for found in store.records(TENANT, RecordFilter())] == ["run_new", "run_old"]
    assert (store.verify(TENANT).records, store.verify(TENANT).faults) == (2, ())


def test_old_tables_get_the_index_of_a_day_s_spending(store: SqlRecordStore, root: Path) -> None:
    """Without it each round under a limit would read every record."""
    store.close_run(record("run_new", turn=2))
    connection = sqlite3.connect(root / "records.db")
    assert connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'records_by_day'").fetchall()
    connection.close()


def test_a_run_that_an_older_release_left_open_is_closed(store: SqlRecordStore) -> None:
    """N-24. Its evidence then lacks what old visits did not keep."""
    assert store.close_dead() == 1
    closed = store.record(TENANT, "run_open")
    assert (closed.outcome, closed.ids.turn, len(closed.visits)) == ("stopped", 2, 1)
    assert [(leaf.doc_id, leaf.source) for leaf in closed.evidence] == [("doc_chunk_7", "")]
    assert store.verify(TENANT).faults == ()


def test_old_records_on_a_disk_that_cannot_be_written_say_why_they_are_not_read() -> None:
    """They are brought up to date when they are first opened: that needs one writing."""
    with open_folder() as folder:
        write_old_records(folder / "workspace")
        (folder / "workspace" / "records.db").chmod(0o444)
        (folder / "workspace").chmod(0o555)

        def read() -> object:
            own = SqlRecordStore(records_url(folder / "workspace"), FakeClock())
            with pytest.raises(WorkspaceUnusable) as unusable:
                own.verify(TENANT)
            return unusable.value.code

        assert in_child(read, as_nobody=True).said in ("read_only", "no_rights")
        (folder / "workspace").chmod(0o755)
