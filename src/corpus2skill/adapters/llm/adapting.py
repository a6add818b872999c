"""Calling an endpoint that may refuse a feature: it goes on without, and that is remembered for the process.

A request that was refused as malformed was not paid for, so this is no second try of a call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Generic, Protocol, Self, TypeVar

from corpus2skill.adapters.llm.failures import Failure, Target, classify, is_about_features

_Result = TypeVar("_Result")

_ALONE_SECONDS = 0.5
"""How long the first call to an endpoint has it for itself: what is malformed is refused within a round trip."""


class Quirks(Protocol):
    """What an endpoint cannot do. Every step of `without` gives something up, so steps come to an end."""

    def without(self, failure: Failure) -> Self | None:
        """Return the habits to try next; None where nothing of the request explains the failure."""
        ...


_AnyQuirks = TypeVar("_AnyQuirks", bound=Quirks)


class Adapting(Generic[_AnyQuirks]):
    """The habits of one endpoint and model.

    `known` outlives the model object: it is the memory of the process, by endpoint. Where it says nothing of a
    foreign endpoint, whose manners are guessed, the first call goes alone for a moment, so that many at a time
    are not all refused for the same reason.
    """

    def __init__(
        self,
        target: Target,
        known: dict[Target, _AnyQuirks],
        first: _AnyQuirks,
        *,
        is_foreign: bool = False,
    ) -> None:
        self._target = target
        self._known = known
        self._first = first
        self._is_foreign = is_foreign
        self._first_call: _FirstCall[_AnyQuirks] | None = None
        """While it is under way."""

    @property
    def quirks(self) -> _AnyQuirks:
        return self._known.get(self._target, self._first)

    def remember(self, quirks: _AnyQuirks) -> None:
        self._known[self._target] = quirks

    async def call(self, attempt: Callable[[_AnyQuirks], Awaitable[_Result | Failure]]) -> _Result:
        """Return what `attempt` returns once it is no `Failure`.

        Raises:
            ModelError: the failure, where nothing is left to do without.
        """
        if not self._is_foreign or self._target in self._known:
            return await self._adapted(attempt, self.quirks)
        if self._first_call is None:
            return await self._alone(attempt)
        return await self._adapted(attempt, await self._first_call.tried(_ALONE_SECONDS))

    async def _alone(self, attempt: Callable[[_AnyQuirks], Awaitable[_Result | Failure]]) -> _Result:
        self._first_call = first_call = _FirstCall(self.quirks)
        try:
            return await self._adapted(attempt, self.quirks, first_call)
        finally:
            self._first_call = None
            first_call.quirks = self.quirks  # where it failed, what it gave up on the way was not the reason
            first_call.has_ended.set()

    async def _adapted(
        self,
        attempt: Callable[[_AnyQuirks], Awaitable[_Result | Failure]],
        known: _AnyQuirks,
        first_call: _FirstCall[_AnyQuirks] | None = None,
    ) -> _Result:
        quirks = known
        while isinstance(result := await attempt(quirks), Failure):
            changed = quirks.without(result) if is_about_features(result) else None
            if changed is None:
                raise classify(result, self._target)
            quirks = changed
            if first_call is not None:
                first_call.quirks = quirks
        if quirks != known or (self._is_foreign and self._target not in self._known):
            self.remember(quirks)
        return result


class _FirstCall(Generic[_AnyQuirks]):
    """The first call to an endpoint, and the habits that it is trying now."""

    def __init__(self, quirks: _AnyQuirks) -> None:
        self.quirks = quirks
        self.has_ended = asyncio.Event()

    async def tried(self, seconds: float) -> _AnyQuirks:
        """Return the habits to go on with, once the call has ended or had so many seconds."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self.has_ended.wait()
        return self.quirks
