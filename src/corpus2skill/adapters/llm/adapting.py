"""Calling an endpoint that may refuse a feature: it goes on without, and that is remembered for the process.

A request that was refused as malformed was not paid for, so this is no second try of a call.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Generic, Protocol, Self, TypeVar

from corpus2skill.adapters.llm.failures import Failure, Target, classify, is_about_features
from corpus2skill.errors import ModelUnusable

_Result = TypeVar("_Result")

_ALONE_SECONDS = 0.5
"""How long the first call has the endpoint for itself. What is refused is refused within a round trip; a model that
writes takes longer, and no more than this is lost by waiting for it."""
_OF_ONE_CALL = frozenset({"window_exceeded", "model_without_tools"})
"""What makes one call unusable and says nothing of the others."""


class Quirks(Protocol):
    """What an endpoint cannot do. Every step of `without` gives something up, so steps come to an end."""

    def without(self, failure: Failure) -> Self | None:
        """Return the habits to try next; None where nothing of the request explains the failure."""
        ...


_AnyQuirks = TypeVar("_AnyQuirks", bound=Quirks)


class Adapting(Generic[_AnyQuirks]):
    """The habits of one endpoint and model.

    `known` outlives the model object: it is the memory of the process, by endpoint. Until a call was answered
    the first one goes alone for a moment, so that many at a time are not all refused for the same reason: a
    manner of the endpoint that was guessed wrong, a wrong key, an unknown model, a quota used up.
    """

    def __init__(
        self,
        target: Target,
        known: dict[Target, _AnyQuirks],
        first: _AnyQuirks,
    ) -> None:
        self._target = target
        self._known = known
        self._first = first
        self._has_answered = False
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
            ModelError: the failure, where nothing is left to do without; or that of the first call, where it
                would be this one's as well.
        """
        if self._has_answered:
            return await self._adapted(attempt, self.quirks)
        if self._first_call is None:
            return await self._alone(attempt)
        return await self._adapted(attempt, await self._first_call.tried())

    async def _alone(self, attempt: Callable[[_AnyQuirks], Awaitable[_Result | Failure]]) -> _Result:
        self._first_call = first_call = _FirstCall(self.quirks)
        try:
            return await self._adapted(attempt, self.quirks, first_call)
        except ModelUnusable as error:
            first_call.failure = None if error.code in _OF_ONE_CALL else error
            raise
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
        self._has_answered = True
        if quirks != known:
            self.remember(quirks)
        return result


class _FirstCall(Generic[_AnyQuirks]):
    """The first call to an endpoint, and the habits that it is trying now."""

    def __init__(self, quirks: _AnyQuirks) -> None:
        self.quirks = quirks
        self.failure: ModelUnusable | None = None
        self.has_ended = asyncio.Event()
        self._alone_until = asyncio.get_running_loop().time() + _ALONE_SECONDS

    async def tried(self) -> _AnyQuirks:
        """Return the habits to go on with, once the call has ended or had its time.

        Raises:
            ModelUnusable: it has failed as every other would.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout_at(self._alone_until):
                await self.has_ended.wait()
        if self.failure is not None:
            raise ModelUnusable(self.failure.code, **self.failure.values)
        return self.quirks
