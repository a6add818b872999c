"""Takes texts into the index while the compile waits for a model."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager

from corpus2skill.ports.lexical_index import LexicalIndexWriter

_PAUSE = 0.002
"""Seconds between two texts, in which the event loop, that has calls to make and answer, does not wait for us."""


@asynccontextmanager
async def index_ahead(writer: LexicalIndexWriter, texts: Iterable[str]) -> AsyncGenerator[None]:
    """Prepare `texts` beside the code within, as far as it gets; the writer does the rest when it writes."""
    is_over = threading.Event()
    work = asyncio.create_task(asyncio.to_thread(_prepare, writer, texts, is_over))
    try:
        yield
    finally:
        is_over.set()
        await work


def _prepare(writer: LexicalIndexWriter, texts: Iterable[str], is_over: threading.Event) -> None:
    for text in texts:
        if is_over.wait(_PAUSE):
            return
        writer.prepare(text)
