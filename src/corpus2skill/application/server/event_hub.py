"""Who watches what in this process: events on their way from the log to any number of streams.

A topic that is watched has its newest events here once, however many watch it; a watcher is a number, the last
event it was given. Whoever falls behind reads the log, so that nobody waits for anybody.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import deque
from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from corpus2skill.domain.event_log import LoggedEvent, NewEvent, is_last, merged
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.ports.event_log import EventLog

_log = logging.getLogger(__name__)

TopicKey = tuple[str, str]
"""Tenant and topic."""
Ear = Callable[[TopicKey, int, Sequence[NewEvent]], None]
"""Is told, in the appending thread, of events and the number of the last of them."""

_POLL_SECONDS = 0.25
_POLLS_OF_OURS = 20
"""Every so many polls a topic is asked for, too, that this process itself appends to."""
_RECENT = 128
"""Events of a topic that are held here."""


class HeardEventLog:
    """`ports.event_log.EventLog` that tells this process of what it appends."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._ears: list[Ear] = []

    def heard_by(self, ear: Ear) -> None:
        self._ears.append(ear)

    def append(self, tenant: str, topic: str, events: Sequence[NewEvent]) -> int:
        last = self._log.append(tenant, topic, events)
        self._tell((tenant, topic), last, events)
        return last

    def append_all(self, batches: Sequence[tuple[str, str, Sequence[NewEvent]]]) -> tuple[int, ...]:
        numbers = self._log.append_all(batches)
        for (tenant, topic, events), last in zip(batches, numbers, strict=True):
            self._tell((tenant, topic), last, events)
        return numbers

    def since(self, tenant: str, topic: str, after: int, limit: int = 500) -> tuple[LoggedEvent, ...]:
        return self._log.since(tenant, topic, after, limit)

    def newest(self, topics: Collection[TopicKey]) -> Mapping[TopicKey, int]:
        return self._log.newest(topics)

    def forget(self, tenant: str, topic: str) -> None:
        self._log.forget(tenant, topic)

    def _tell(self, key: TopicKey, last: int, events: Sequence[NewEvent]) -> None:
        for ear in self._ears:
            ear(key, last, events)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An event as it goes to watchers; made once for all of them."""

    topic: str
    number: int
    kind: str
    data: str
    """The payload as JSON on one line."""
    is_last: bool


@dataclass(slots=True, kw_only=True)
class _Topic:
    key: TopicKey
    last: int = 0
    """Number of the newest event known here."""
    floor: int = 0
    """Those after this one are all in `recent`."""
    recent: deque[Told] = field(default_factory=deque[Told])
    watchers: set[Watcher] = field(default_factory=set["Watcher"])
    is_ours: bool = False
    """True once this process itself has appended to it."""
    is_over: bool = False
    """True where the newest event is one after which there are no more."""

    def extend(self, events: Sequence[Told]) -> None:
        for event in events:
            self.recent.append(event)
            self.last, self.is_over = event.number, event.is_last
        while len(self.recent) > _RECENT:
            self.floor = self.recent.popleft().number
        for watcher in self.watchers:
            watcher.wake()

    def after(self, number: int) -> list[Told] | None:
        """Events behind `number`, None where they are not all here."""
        if number < self.floor:
            return None
        return [event for event in self.recent if event.number > number]


class Watcher:
    """One who watches some topics of a tenant, from a number of each on."""

    def __init__(self, hub: EventHub) -> None:
        self._hub = hub
        self.topics: list[_Topic] = []
        self.after: list[int] = []
        """The last number given of each topic, in the order in which they were asked for."""
        self._woken = asyncio.Event()
        self._is_closed = False

    def join(self, topic: _Topic, after: int) -> None:
        self.topics.append(topic)
        self.after.append(after)

    @property
    def has_seen_all(self) -> bool:
        """True where every topic is over and its last event was given."""
        return all(
            topic.is_over and after >= topic.last
            for topic, after in zip(self.topics, self.after, strict=True)
        )

    def wake(self) -> None:
        self._woken.set()

    def close(self) -> None:
        """Let `next` return None from now on."""
        self._is_closed = True
        self._woken.set()

    async def next(self, patience: float) -> list[Told] | None:
        """Return what comes next; an empty list after `patience` seconds of nothing, None at the end.

        Raises:
            Corpus2SkillError: the log cannot be read.
        """
        while not self._is_closed:
            self._woken.clear()
            if events := await self._ready():
                return events
            if self.has_seen_all:
                return None
            try:
                async with asyncio.timeout(patience):
                    await self._woken.wait()
            except TimeoutError:
                return []
        return None

    async def _ready(self) -> list[Told]:
        """What there is now, of each topic no more than a page."""
        found: list[Told] = []
        for place, topic in enumerate(self.topics):
            if self.after[place] >= topic.last:
                continue
            events = topic.after(self.after[place])
            if events is None:
                events = await self._hub.read(topic.key, self.after[place])
            if events:
                self.after[place] = events[-1].number
                found.extend(events)
        return found


class EventHub:
    """All watchers of a process. It lives in the event loop in which it is first watched."""

    def __init__(self, log: HeardEventLog) -> None:
        self._log = log
        self._topics: dict[TopicKey, _Topic] = {}
        self._watchers: set[Watcher] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._pump: asyncio.Task[None] | None = None
        self._urgent = asyncio.Event()
        self._is_closed = False
        log.heard_by(self._hear)

    @property
    def watched(self) -> int:
        """How many watch now."""
        return len(self._watchers)

    @asynccontextmanager
    async def watch(
        self, tenant: str, topics: Sequence[str], after: Sequence[int]
    ) -> AsyncGenerator[Watcher]:
        """Watch topics for as long as the block lasts, each from behind the number in `after`.

        A number that a topic has not come to yet counts as that of its newest event, and, where the topic is
        over, as the one before: its end is told (once more) rather than never.

        Raises:
            Corpus2SkillError: the log cannot be read.
        """
        self._settle_in()
        watcher = Watcher(self)
        self._watchers.add(watcher)
        try:
            for topic, number in zip(topics, after, strict=True):
                await self._join(watcher, (tenant, topic), number)
            if self._is_closed:
                watcher.close()
            self._keep_pumping()
            yield watcher
        finally:
            self._leave(watcher)

    def close(self) -> None:
        """End all streams, and those that are opened from now on at once."""
        self._is_closed = True
        for watcher in self._watchers:
            watcher.close()

    async def read(self, key: TopicKey, after: int) -> list[Told]:
        """A page of the log behind a number, pieces of text made one."""
        events = await asyncio.to_thread(self._log.since, *key, after)
        return [_told(key, event.number, event) for event in merged(events)]

    def _settle_in(self) -> None:
        """Begin anew in another loop than before: what was bound to that one is of no use any more."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._pump, self._urgent = loop, None, asyncio.Event()
            self._topics, self._watchers = {}, set()

    async def _join(self, watcher: Watcher, key: TopicKey, after: int) -> None:
        topic = self._topics.get(key) or await self._opened(key)
        self._topics[key] = topic
        topic.watchers.add(watcher)
        watcher.join(topic, _start(topic, after))

    async def _opened(self, key: TopicKey) -> _Topic:
        """The topic as the log has it now, unless somebody else was quicker."""
        newest = (await asyncio.to_thread(self._log.newest, [key])).get(key, 0)
        tail = await asyncio.to_thread(self._log.since, *key, newest - 1) if newest else ()
        if key in self._topics:
            return self._topics[key]
        last = tail[-1] if tail else None
        number = newest if last is None else last.number
        return _Topic(key=key, last=number, floor=number, is_over=last is not None and is_last(last))

    def _leave(self, watcher: Watcher) -> None:
        self._watchers.discard(watcher)
        for topic in watcher.topics:
            topic.watchers.discard(watcher)
            if not topic.watchers and self._topics.get(topic.key) is topic:
                del self._topics[topic.key]

    def _hear(self, key: TopicKey, last: int, events: Sequence[NewEvent]) -> None:
        """Of the thread that appended."""
        loop = self._loop
        if loop is None or key not in self._topics:
            return
        try:
            loop.call_soon_threadsafe(self._take, key, last, events)
        except RuntimeError:  # the loop is closed: nobody watches any more
            return

    def _take(self, key: TopicKey, last: int, events: Sequence[NewEvent]) -> None:
        topic = self._topics.get(key)
        if topic is None or last <= topic.last:
            return
        topic.is_ours = True
        first = last - len(events) + 1
        if first == topic.last + 1:
            topic.extend([_told(key, number, event) for number, event in enumerate(events, start=first)])
        else:
            topic.is_ours = False  # others append to it, too
            self._urgent.set()

    def _keep_pumping(self) -> None:
        if self._pump is None or self._pump.done():
            self._pump = asyncio.get_running_loop().create_task(self._fetch_others())

    async def _fetch_others(self) -> None:
        """Look, as long as anybody watches, for what other processes have appended."""
        polls = 0
        while self._topics:
            try:
                async with asyncio.timeout(_POLL_SECONDS):
                    await self._urgent.wait()
            except TimeoutError:
                pass
            self._urgent.clear()
            polls += 1
            try:
                await self._poll(with_ours=polls % _POLLS_OF_OURS == 0)
            except Corpus2SkillError:
                _log.warning("events cannot be read; they are looked for again", exc_info=True)

    async def _poll(self, *, with_ours: bool) -> None:
        topics = [topic for topic in self._topics.values() if with_ours or not topic.is_ours]
        if not topics:
            return
        newest = await asyncio.to_thread(self._log.newest, [topic.key for topic in topics])
        for topic in topics:
            while topic.last < newest.get(topic.key, 0):
                events = await asyncio.to_thread(self._log.since, *topic.key, topic.last)
                fresh = [event for event in events if event.number > topic.last]
                if not fresh:
                    break
                topic.extend([_told(topic.key, event.number, event) for event in fresh])


def _start(topic: _Topic, after: int) -> int:
    if after <= topic.last:
        return after
    return max(topic.last - 1, 0) if topic.is_over else topic.last


def _told(key: TopicKey, number: int, event: NewEvent) -> Told:
    data = json.dumps(event.payload, ensure_ascii=False, separators=(",", ":"))
    try:
        data.encode("utf-8")
    except UnicodeEncodeError:  # half a character: written out
        data = json.dumps(event.payload, separators=(",", ":"))
    return Told(topic=key[1], number=number, kind=event.kind, data=data, is_last=is_last(event))
