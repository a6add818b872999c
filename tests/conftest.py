"""What every test may ask for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fakes.postgres_cluster import PostgresCluster, binaries
from tests.fakes.providers.fixtures import fake_anthropic as fake_anthropic
from tests.fakes.providers.fixtures import fake_ollama as fake_ollama
from tests.fakes.providers.fixtures import fake_openai as fake_openai
from tests.fakes.providers.fixtures import threaded_anthropic as threaded_anthropic
from tests.fakes.providers.fixtures import threaded_openai as threaded_openai


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """Async tests (`pytest.mark.anyio`) run on asyncio alone: it is what the product runs on."""
    return "asyncio"


@pytest.fixture(scope="session")
def packs() -> Path:
    """The folder of question packs, which are no part of the project."""
    return _folder_from("CORPUS2SKILL_PACKS")


@pytest.fixture(scope="session")
def documents() -> Path:
    """The folder of real documents with the verdict each must get, which are no part of the project."""
    return _folder_from("CORPUS2SKILL_DOCUMENTS")


@pytest.fixture(scope="session")
def postgres_cluster() -> Iterator[PostgresCluster]:
    """A PostgreSQL of this session's own; skipped where Debian's package is not installed."""
    programs = binaries()
    if programs is None:
        pytest.skip("PostgreSQL is not installed (apt install postgresql)")
    cluster = PostgresCluster(programs)
    yield cluster
    cluster.remove()


@pytest.fixture
def postgres_url(postgres_cluster: PostgresCluster) -> str:
    """The URL, for SQLAlchemy, of an empty database in PostgreSQL."""
    return postgres_cluster.new_database()


def _folder_from(variable: str) -> Path:
    folder = os.environ.get(variable)
    if not folder:
        pytest.skip(f"{variable} names no folder")
    return Path(folder)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "requirement(id): the promise of tests/requirements.py that this holds"
    )
