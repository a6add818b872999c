"""Calling an endpoint that may refuse a feature: it goes on without, and that is remembered for the process.

A request that was refused as malformed was not paid for, so this is no second try of a call.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Generic, Protocol, Self, TypeVar

from corpus2skill.adapters.llm.failures import Failure, Target, classify, is_about_features

_Result = TypeVar("_Result")


class Quirks(Protocol):
    """What an endpoint cannot do. Every step of `without` gives something up, so steps come to an end."""

    def without(self, failure: Failure) -> Self | None:
        """Return the habits to try next; None where nothing of the request explains the failure."""
        ...


_AnyQuirks = TypeVar("_AnyQuirks", bound=Quirks)


class Adapting(Generic[_AnyQuirks]):
    """The habits of one endpoint and model.

    `known` outlives the model object: it is the memory of the process, by endpoint.
    """

    def __init__(self, target: Target, known: dict[Target, _AnyQuirks], first: _AnyQuirks) -> None:
        self._target = target
        self._known = known
        self._first = first

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
        quirks = known = self.quirks
        while isinstance(result := await attempt(quirks), Failure):
            changed = quirks.without(result) if is_about_features(result) else None
            if changed is None:
                raise classify(result, self._target)
            quirks = changed
        if quirks != known:
            self.remember(quirks)
        return result
