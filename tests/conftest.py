"""What every test may ask for."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

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


def _folder_from(variable: str) -> Path:
    folder = os.environ.get(variable)
    if not folder:
        pytest.skip(f"{variable} names no folder")
    return Path(folder)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers", "requirement(id): the promise of tests/requirements.py that this holds"
    )
