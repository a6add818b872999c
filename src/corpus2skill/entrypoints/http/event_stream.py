"""Server-sent events over the event log: replay, then live, from wherever the watcher was.

One topic (`stream`): `id` is the event's number, `event` its kind, `data` its payload.

Several topics (`streams`), so that all tabs of a browser may share one connection: `id` has the last number of
every topic in the order of the question, with dots between, so that `Last-Event-ID` tells all of them; `data`
is `{"topic": ..., "id": ..., "event": ..., "data": ...}`, and `event` is left out.

A watcher at the end of what has ended is answered 204, which stops an `EventSource`.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Annotated, Any

from fastapi import Depends, Header, Query, Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from corpus2skill.application.server.event_hub import EventHub, Told, Watcher
from corpus2skill.errors import Corpus2SkillError

_log = logging.getLogger(__name__)

_HEARTBEAT_SECONDS = 15.0
_DEAD_AFTER_SECONDS = 30.0
"""A watcher that takes nothing for so long is given up."""
_HEADERS = {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-store",
    "x-accel-buffering": "no",
}
_BEGINNING = b"retry: 1000\n\n"
_HEARTBEAT = b":\n\n"

STREAM_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The events, those that were already and those to come.",
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    },
    204: {"description": "All events were told, and there will be no more."},
}
"""`responses=` of a route that answers with a stream, with `response_class=Response`."""

Form = Callable[[Told, Watcher], str]


class EventStream(Response):
    """The answer of a route that streams events. Nothing is read before it is sent."""

    def __init__(
        self, hub: EventHub, tenant: str, topics: Sequence[str], after: Sequence[int], form: Form
    ) -> None:
        super().__init__()
        self._hub = hub
        self._watching = (tenant, topics, after)
        self._form = form

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._hub.watch(*self._watching) as watcher:
            if watcher.has_seen_all and watcher.topics:
                await Response(status_code=204, headers={"cache-control": "no-store"})(scope, receive, send)
                return
            gone = asyncio.ensure_future(_gone(receive))
            gone.add_done_callback(lambda _: watcher.close())
            try:
                with suppress(TimeoutError, OSError):
                    await self._tell(watcher, send)
            finally:
                gone.cancel()

    async def _tell(self, watcher: Watcher, send: Send) -> None:
        headers = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await _send(send, _BEGINNING)
        try:
            while (events := await watcher.next(_HEARTBEAT_SECONDS)) is not None:
                await _send(send, self._wire(events, watcher) if events else _HEARTBEAT)
        except Corpus2SkillError:  # the log cannot be read now: the watcher will come back
            _log.warning("a stream of events was cut off", exc_info=True)
        await _send(send, b"", more=False)

    def _wire(self, events: Sequence[Told], watcher: Watcher) -> bytes:
        return "".join(self._form(event, watcher) for event in events).encode("utf-8")


class Streams:
    """Where a request's watcher was, and the hub: what a route makes its stream with."""

    def __init__(
        self,
        request: Request,
        after: Annotated[
            int, Query(ge=0, le=2**53, description="Number of the last event seen; `Last-Event-ID` wins.")
        ] = 0,
        last_event_id: Annotated[
            str | None, Header(max_length=2000, description="As `EventSource` sends it when it comes back.")
        ] = None,
    ) -> None:
        self._hub = hub_of(request)
        self._after = after
        self._last_event_id = last_event_id or ""

    def stream(self, tenant: str, topic: str) -> EventStream:
        """Stream one topic, which the caller was found to be allowed to see."""
        after = int(self._last_event_id) if _is_number(self._last_event_id) else self._after
        return EventStream(self._hub, tenant, (topic,), (after,), _single)

    def streams(self, tenant: str, topics: Sequence[str], after: Sequence[int]) -> EventStream:
        """Stream several topics in one, each from behind its number unless `Last-Event-ID` says where."""
        parts = self._last_event_id.split(".")
        if len(parts) == len(topics) and all(map(_is_number, parts)):
            after = [int(part) for part in parts]
        return EventStream(self._hub, tenant, topics, after, _Shared(after))


Watching = Annotated[Streams, Depends()]


def hub_of(request: Request) -> EventHub:
    hub = request.app.state.hub
    assert isinstance(hub, EventHub)
    return hub


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 17


async def _gone(receive: Receive) -> None:
    """Return when the watcher has hung up."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send(send: Send, body: bytes, *, more: bool = True) -> None:
    """Raises: TimeoutError: nobody takes it."""
    async with asyncio.timeout(_DEAD_AFTER_SECONDS):
        await send({"type": "http.response.body", "body": body, "more_body": more})


def _single(event: Told, _watcher: Watcher) -> str:
    return f"id: {event.number}\nevent: {event.kind}\ndata: {event.data}\n\n"


class _Shared:
    """The form of several topics in one stream: counts along what was told of each."""

    def __init__(self, after: Sequence[int]) -> None:
        self._after = list(after)

    def __call__(self, event: Told, watcher: Watcher) -> str:
        place = next(place for place, topic in enumerate(watcher.topics) if topic.key[1] == event.topic)
        self._after[place] = event.number
        topic, kind = json.dumps(event.topic), json.dumps(event.kind)
        data = f'{{"topic":{topic},"id":{event.number},"event":{kind},"data":{event.data}}}'
        return f"id: {'.'.join(map(str, self._after))}\ndata: {data}\n\n"
