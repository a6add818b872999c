"""The model that walks the tree."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Protocol

from corpus2skill.domain.language import Language
from corpus2skill.domain.message import Message, ModelEvent, message_texts
from corpus2skill.domain.session import Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as a model is told of it. `schema` is the JSON Schema of its input, as JSON text."""

    name: str
    description: str
    schema: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigatorRequest:
    """One round's input. Within a run `messages` only grows; the rest stays as it is."""

    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    """`get_document`."""
    max_output_tokens: int
    language: Language
    """Of the answer."""
    channel: Channel
    may_use_tools: bool = True
    """False for a last word. The tools stay in sight all the same: they are part of what providers cache."""

    @property
    def offers_tools(self) -> bool:
        return bool(self.tools) and self.may_use_tools

    @property
    def texts(self) -> tuple[str, ...]:
        """All that is sent and counted."""
        tools = (text for tool in self.tools for text in (tool.name, tool.description, tool.schema))
        return (self.system, *tools, *message_texts(self.messages))


class NavigatorModel(Protocol):
    """Chooses the next node or answers. It tries once: waiting and trying again are decided by the loop."""

    @property
    def name(self) -> str:
        """`provider:model`, as in records."""
        ...

    @property
    def window(self) -> int:
        """Tokens that all that is sent and the reply may have together."""
        ...

    @property
    def thinking_tokens(self) -> int:
        """The most tokens that a reply may have beside what is visible of it, as far as is known by now."""
        ...

    def reply(self, request: NavigatorRequest) -> AsyncIterator[ModelEvent]:
        """Stream text deltas, then exactly one `Reply`.

        Raises:
            ModelUnavailable: the call failed or the stream broke; what was streamed is to be dropped.
            ModelRefused: the provider declined.
            BadReply: the stream ended without a usable reply.
            ModelUnusable: key, quota, model or endpoint are wrong.
        """
        ...

    async def close(self) -> None:
        """Give back the connections."""
        ...
