"""What passes between the loop and a navigator model, in typed parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Text:
    """Words of the model, the asker or the program."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """A thinking block. With a signature it must go back untouched, even when its text is empty."""

    text: str
    signature: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """The model wants to use a tool. `arguments` is the JSON object as the model wrote it."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    """What the program answers to one tool call; `content` is JSON."""

    call_id: str
    content: str
    is_error: bool = False


ModelPart = Text | Thinking | ToolCall
ProgramPart = Text | ToolResult


@dataclass(frozen=True, slots=True)
class ModelMessage:
    parts: tuple[ModelPart, ...]


@dataclass(frozen=True, slots=True)
class ProgramMessage:
    """A message of the asker or of the program on the asker's side."""

    parts: tuple[ProgramPart, ...]


Message = ModelMessage | ProgramMessage


def message_texts(messages: Iterable[Message]) -> Iterator[str]:
    """Yield all texts that a model is sent with `messages`, ids and names among them: what is counted."""
    for message in messages:
        for part in message.parts:
            yield from _part_texts(part)


def _part_texts(part: ModelPart | ProgramPart) -> tuple[str, ...]:
    match part:
        case Text(text):
            return (text,)
        case Thinking(text=text, signature=signature):
            return (text, signature or "")
        case ToolCall(call_id=call_id, name=name, arguments=arguments):
            return (call_id, name, arguments)
        case ToolResult(call_id=call_id, content=content):
            return (call_id, content)


MADE_UP_CALL = "prefetch_root"
"""Id of the tool call that the program makes in the model's name. Models that refuse it read its result as text."""

StopReason = Literal["end", "tool_use", "max_tokens", "refusal"]
Confidence = Literal["strong", "weak"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one call; zeros where no model was paid."""

    input_tokens: int = 0
    """All that was sent, whatever it cost: the next two are parts of it."""
    output_tokens: int = 0
    """All that was generated, thinking counted."""
    cached_tokens: int = 0
    """Of the input: served from the provider's cache."""
    cache_written_tokens: int = 0
    """Of the input: written into the provider's cache, which some providers charge more for."""

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            cache_written_tokens=self.cache_written_tokens + other.cache_written_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """A round's end: the whole reply."""

    parts: tuple[ModelPart, ...]
    stop: StopReason
    usage: Usage = Usage()
    confidence: Confidence | None = None
    """Only an engine that can tell says so; a language model leaves None, which counts as strong."""

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text)).strip()

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        return tuple(part for part in self.parts if isinstance(part, ToolCall))


@dataclass(frozen=True, slots=True)
class TextDelta:
    """A piece of text while a round is under way: a reason or the answer, not known yet."""

    text: str


ModelEvent = TextDelta | Reply
"""A navigator model streams deltas and ends with exactly one Reply."""
