"""Versions that are open for questions: each opened once, however many ask, and closed when nobody does."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from corpus2skill.application.ask import Asking
from corpus2skill.settings import Settings

_log = logging.getLogger(__name__)

_UNUSED_AT_MOST = 16
_UNUSED_SECONDS = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeKey:
    """What is open: a version with a model, under the settings that it was opened with."""

    tenant: str
    corpus: str
    version: int
    model: str | None
    settings: Settings
    keys: str = ""
    """The revision of the keys that pay."""


@dataclass(slots=True, kw_only=True)
class _Opened:
    asking: asyncio.Future[Asking]
    users: int = 0
    is_stale: bool = False
    """Closed as soon as nobody uses it."""
    unused_since: float = 0.0


class OpenTrees:
    """Belongs to one event loop. A run keeps what it began with; a version that is switched to is another key."""

    def __init__(self) -> None:
        self._opened: dict[TreeKey, _Opened] = {}

    def __len__(self) -> int:
        return len(self._opened)

    @asynccontextmanager
    async def borrow(self, key: TreeKey, open_it: Callable[[], Asking]) -> AsyncGenerator[Asking]:
        """The version for as long as the block lasts; `open_it` is called in a thread where it is not open.

        Raises:
            whatever `open_it` does.
        """
        opened = self._opened.get(key)
        if opened is None:
            opening = asyncio.ensure_future(asyncio.to_thread(open_it))
            opened = self._opened[key] = _Opened(asking=opening)
        opened.users += 1
        try:
            yield await asyncio.shield(opened.asking)
        finally:
            opened.users -= 1
            opened.unused_since = asyncio.get_running_loop().time()
            if opened.asking.done() and (opened.asking.cancelled() or opened.asking.exception()):
                self._forget(key, opened)
            elif opened.is_stale and not opened.users:
                await _close(opened)
            await self._tidy()

    async def forget(self, tenant: str) -> None:
        """Have what is open for a tenant opened anew by the next question: a key of theirs has changed."""
        for key, opened in list(self._opened.items()):
            if key.tenant == tenant:
                opened.is_stale = True
                self._forget(key, opened)
                if not opened.users:
                    await _close(opened)

    async def close_unused(self) -> None:
        """Close what nobody has used for a while."""
        now = asyncio.get_running_loop().time()
        for key, opened in list(self._opened.items()):
            if not opened.users and now - opened.unused_since > _UNUSED_SECONDS:
                self._forget(key, opened)
                await _close(opened)

    async def close(self) -> None:
        """Close everything; nobody may be using it."""
        for key, opened in list(self._opened.items()):
            self._forget(key, opened)
            await _close(opened)

    async def _tidy(self) -> None:
        unused = [(key, opened) for key, opened in self._opened.items() if not opened.users]
        unused.sort(key=lambda item: item[1].unused_since)
        for key, opened in unused[: max(0, len(unused) - _UNUSED_AT_MOST)]:
            self._forget(key, opened)
            await _close(opened)

    def _forget(self, key: TreeKey, opened: _Opened) -> None:
        if self._opened.get(key) is opened:
            del self._opened[key]


async def _close(opened: _Opened) -> None:
    try:
        asking = await opened.asking
        await asking.__aexit__()
    except Exception:  # noqa: BLE001 - what cannot be closed is let go
        _log.warning("an open version could not be closed", exc_info=True)
