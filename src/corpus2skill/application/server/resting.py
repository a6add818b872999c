"""How the worker's duties rest when there is nothing to do: until somebody writes, where that can be seen for nothing."""

from __future__ import annotations

import asyncio
from contextlib import suppress

from corpus2skill.application.server_wiring import Server

_GLANCE_SECONDS = 0.2
_AT_LATEST_SECONDS = 2.0
"""What the time alone makes due, such as another try, is found so late."""


class Rest:
    """Of one duty: `look` before it looks for work, `until_written` where it found none."""

    def __init__(self, server: Server, unseen: float) -> None:
        """`unseen`: seconds between two looks where only a look can tell."""
        self._server = server
        self._unseen = unseen
        self._pulse = server.state_pulse()

    def look(self) -> None:
        self._pulse = self._server.state_pulse()

    async def until_written(self, stop: asyncio.Event) -> None:
        """Return when the state was written to since `look`, it is to stop, or it has been long enough."""
        if self._pulse is None:
            await _pause(stop, self._unseen)
            return
        loop = asyncio.get_running_loop()
        until = loop.time() + _AT_LATEST_SECONDS
        while not stop.is_set() and loop.time() < until and self._server.state_pulse() == self._pulse:
            await _pause(stop, _GLANCE_SECONDS)


async def _pause(stop: asyncio.Event, seconds: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await stop.wait()
