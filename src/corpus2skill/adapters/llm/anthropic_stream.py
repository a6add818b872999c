"""A streamed reply of Anthropic's, put together from its events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from corpus2skill.adapters.llm.anthropic_wire import WireUsage, redacted_thinking, stop_of, usage_of
from corpus2skill.adapters.llm.redaction import Redactor, StreamRedactor
from corpus2skill.domain.message import ModelPart, Reply, Text, Thinking, ToolCall

if TYPE_CHECKING:
    from anthropic.types import (
        ContentBlock,
        MessageDeltaUsage,
        RawContentBlockDelta,
        RawMessageStreamEvent,
        Usage,
    )


@dataclass(slots=True)
class _Block:
    kind: str
    call_id: str = ""
    name: str = ""
    signature: str | None = None
    whole: str = ""
    """What the block's start already had in it."""
    pieces: list[str] = field(default_factory=list[str])

    @property
    def text(self) -> str:
        return "".join(self.pieces) or self.whole


class AnthropicStream:
    """Takes events in their order; `reply` is right once `is_complete`."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._shown = StreamRedactor(redactor)
        self._blocks: dict[int, _Block] = {}
        self._stop: str | None = None
        self._usage = WireUsage()
        self.has_begun = False
        """An event came that only a model API sends."""

    @property
    def is_complete(self) -> bool:
        return self._stop is not None

    def add(self, event: RawMessageStreamEvent) -> str:
        """Take one event; return the text that may be shown now, "" for most kinds of event.

        Raises:
            AttributeError, KeyError, TypeError: the event is not as its kind should be.
        """
        match event.type:
            case "content_block_delta":
                return self._extend(self._blocks[event.index], event.delta)
            case "content_block_start":
                self._blocks[event.index] = block = _opened(event.content_block)
                self.has_begun = True
                return self._shown.feed(block.whole) if block.kind == "text" else ""
            case "message_start":
                self._usage = _merged(self._usage, event.message.usage)
                self.has_begun = True
            case "message_delta":
                self._stop = event.delta.stop_reason or self._stop
                self._usage = _merged(self._usage, event.usage)
            case _:
                pass
        return ""

    def rest(self) -> str:
        """Return the end of the text, held back until now."""
        return self._shown.rest()

    def reply(self) -> Reply:
        return Reply(parts=tuple(self._parts()), stop=stop_of(self._stop), usage=usage_of(self._usage))

    def _extend(self, block: _Block, delta: RawContentBlockDelta) -> str:
        match delta.type:
            case "text_delta":
                block.pieces.append(delta.text)
                return self._shown.feed(delta.text)
            case "input_json_delta":
                block.pieces.append(delta.partial_json)
            case "thinking_delta":
                block.pieces.append(delta.thinking)
            case "signature_delta":
                block.signature = (block.signature or "") + delta.signature
            case _:
                pass
        return ""

    def _parts(self) -> Iterator[ModelPart]:
        for _, block in sorted(self._blocks.items()):
            if (part := _part(block)) is not None:
                yield self._redactor.clean_part(part)


def _opened(block: ContentBlock) -> _Block:
    match block.type:
        case "text":
            return _Block("text", whole=block.text or "")
        case "thinking":
            return _Block("thinking", signature=block.signature or None, whole=block.thinking or "")
        case "redacted_thinking":
            return _Block("redacted_thinking", whole=block.data)
        case "tool_use":
            whole = json.dumps(block.input, ensure_ascii=False) if block.input else "{}"
            return _Block("tool_use", call_id=block.id, name=block.name, whole=whole)
        case _:
            return _Block("other")


def _part(block: _Block) -> ModelPart | None:
    match block.kind:
        case "text":
            return Text(block.text)
        case "thinking":
            return Thinking(text=block.text, signature=block.signature)
        case "redacted_thinking":
            return redacted_thinking(block.text)
        case "tool_use":
            return ToolCall(call_id=block.call_id, name=block.name, arguments=block.text)
        case _:
            return None


def _merged(known: WireUsage, later: Usage | MessageDeltaUsage) -> WireUsage:
    """Counts are cumulative; later events leave out what they do not know."""
    return WireUsage(
        input_tokens=known.input_tokens if later.input_tokens is None else later.input_tokens,
        output_tokens=later.output_tokens or known.output_tokens,
        cache_read_input_tokens=known.cache_read_input_tokens
        if later.cache_read_input_tokens is None
        else later.cache_read_input_tokens,
        cache_creation_input_tokens=known.cache_creation_input_tokens
        if later.cache_creation_input_tokens is None
        else later.cache_creation_input_tokens,
    )
