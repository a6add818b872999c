"""Fixtures for any test: `from tests.fakes.providers.fixtures import *` stands in tests/conftest.py."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.fakes.providers import ProviderServer, anthropic_server, openai_server
from tests.fakes.providers.hosting import in_thread
from tests.fakes.providers.quirks import OLLAMA_LIKE


@pytest.fixture
async def fake_anthropic() -> AsyncIterator[ProviderServer]:
    """Anthropic in the test's event loop. Set `.script`, read `.calls`."""
    async with anthropic_server() as server:
        yield server


@pytest.fixture
async def fake_openai() -> AsyncIterator[ProviderServer]:
    """OpenAI in the test's event loop."""
    async with openai_server() as server:
        yield server


@pytest.fixture
async def fake_ollama() -> AsyncIterator[ProviderServer]:
    """A local server that speaks OpenAI's format badly, in the test's event loop."""
    async with openai_server(quirks=OLLAMA_LIKE) as server:
        yield server


@pytest.fixture
def threaded_anthropic() -> Iterator[ProviderServer]:
    """Anthropic in a thread, for tests that start our program or have no event loop."""
    server = anthropic_server()
    with in_thread(server):
        yield server


@pytest.fixture
def threaded_openai() -> Iterator[ProviderServer]:
    """OpenAI in a thread."""
    server = openai_server()
    with in_thread(server):
        yield server


__all__ = ["fake_anthropic", "fake_ollama", "fake_openai", "threaded_anthropic", "threaded_openai"]
