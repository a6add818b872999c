"""The server's database in SQLite and in PostgreSQL, for the suites of what is kept in it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.state_database import open_state, state_url
from tests.fakes.clock import FakeClock, FakeIds


@pytest.fixture(params=["sqlite", "postgres"])
def state(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """The opened database, empty."""
    url = str(request.getfixturevalue("postgres_url")) if request.param == "postgres" else None
    opened = open_state(state_url(tmp_path / "作業", url))
    yield opened
    opened.close()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def ids() -> FakeIds:
    return FakeIds()
