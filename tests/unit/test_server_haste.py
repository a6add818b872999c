"""What the server does not wait for."""

from __future__ import annotations

import socket
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import Connection, Engine, event

from corpus2skill.application.server.corpora import create_corpus
from corpus2skill.application.server.receive_documents import receive
from corpus2skill.application.server_wiring import open_server
from corpus2skill.application.wiring import TENANT
from corpus2skill.domain.people import SCOPES, Principal
from corpus2skill.domain.upload import CorpusSettings
from corpus2skill.entrypoints.http.serving import listening_socket
from corpus2skill.settings import ServerSettings

_NORMAL, _FULL = 1, 2
"""How SQLite names its `synchronous`: the second waits for the disk with every commit."""


@pytest.mark.requirement("S-148")
def test_an_upload_waits_for_the_database_once_and_last_but_for_what_is_told(tmp_path: Path) -> None:
    """Issue: an upload POST answers in under 100 ms plus the bytes' own time."""
    server = open_server(tmp_path / "home", ServerSettings())
    by = Principal(tenant=TENANT, actor="user_test", name="test", scopes=frozenset(SCOPES))
    create_corpus(server, by, "kb", CorpusSettings())
    reception = receive(server, by, "kb")
    for name in ("規程.md", "FAQ.txt"):
        reception.begin(name)
        reception.write("解約は三十日前までに届け出る。".encode())
    with _commits() as found:
        reception.finish()
    assert found == [_NORMAL, _FULL, _NORMAL], "the rows, the operators' log, the events"


@pytest.mark.requirement("S-149")
def test_no_answer_waits_until_the_client_has_said_that_its_head_came() -> None:
    with (
        listening_socket(ServerSettings(port=0)) as listening,
        socket.create_connection(listening.getsockname()) as _,
    ):
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


@contextmanager
def _commits() -> Generator[list[int]]:
    """How far each commit of the block that changed something waits for the disk."""
    found: list[int] = []
    changes: dict[int, int] = {}

    def begun(connection: Connection) -> None:
        changes[id(connection)] = _driver(connection).total_changes

    def committed(connection: Connection) -> None:
        if _driver(connection).total_changes > changes.pop(id(connection)):
            found.append(_driver(connection).execute("PRAGMA synchronous").fetchone()[0])

    event.listen(Engine, "begin", begun)
    event.listen(Engine, "commit", committed)
    try:
        yield found
    finally:
        event.remove(Engine, "begin", begun)
        event.remove(Engine, "commit", committed)


def _driver(connection: Connection) -> sqlite3.Connection:
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    return driver
