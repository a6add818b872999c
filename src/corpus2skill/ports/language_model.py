"""Language models: the one thing outside that is paid for."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from corpus2skill.domain.message import ModelEvent
from corpus2skill.domain.model_call import TextCall, TextReply
from corpus2skill.ports.navigator_model import NavigatorRequest


class LanguageModel(Protocol):
    """One model at one provider. It tries once: waiting and trying again are decided above it.

    Every text that leaves it, replies and errors alike, is free of the key it was called with.
    """

    @property
    def name(self) -> str:
        """`provider:model`, as in records and manifests."""
        ...

    @property
    def identity(self) -> str:
        """All that decides its answers beside the call: provider, model, endpoint, parameters."""
        ...

    @property
    def window(self) -> int:
        """Tokens that prompt and reply may have together."""
        ...

    @property
    def thinking_tokens(self) -> int:
        """The most tokens that a reply may have beside what is visible of it, as far as is known by now."""
        ...

    async def complete(self, call: TextCall) -> TextReply:
        """Return the whole reply to one call.

        Raises:
            ModelUnavailable: transient; nothing came, or not all of it.
            ModelRefused: the provider declined.
            BadReply: what came is no reply at all.
            ModelUnusable: key, quota, model or endpoint are wrong.
        """
        ...

    def reply(self, request: NavigatorRequest) -> AsyncIterator[ModelEvent]:
        """Stream text deltas, then exactly one `Reply`: the promise of `NavigatorModel`.

        Raises:
            as `complete`; what was streamed before is to be dropped.
        """
        ...

    async def close(self) -> None:
        """Give back the connections."""
        ...
