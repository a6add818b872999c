"""What a model is asked and what it answers, whoever the provider is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from corpus2skill.domain.message import ModelPart, StopReason, Text, Usage
from tests.fakes.providers.wire import JsonObject

Provider = Literal["anthropic", "openai"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutcome:
    """A tool result in the history."""

    call_id: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of the history; consecutive ones of a role are joined."""

    role: Literal["user", "assistant"]
    parts: tuple[ModelPart | ToolOutcome, ...]

    @property
    def text(self) -> str:
        return "\n".join(part.text for part in self.parts if isinstance(part, Text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A call to a model, in neutral words."""

    provider: Provider
    model: str
    system: str
    turns: tuple[Turn, ...]
    tools: tuple[str, ...] = ()
    """Names of the tools that may be used; none where the choice is `none`."""
    schema: JsonObject | None = None
    """The JSON Schema that the reply is held to."""
    max_tokens: int | None = None
    input_tokens: int = 0
    """All that the model reads, by rule of thumb."""
    is_streamed: bool = False
    includes_usage: bool = False
    """OpenAI: a stream is to end with its usage."""
    wants_thinking: bool = False

    @property
    def question(self) -> str:
        """The first text of the user's: what a compile asks about."""
        return next((turn.text for turn in self.turns if turn.role == "user" and turn.text), "")

    @property
    def text(self) -> str:
        """System prompt and every text of the history."""
        return "\n".join([self.system, *(turn.text for turn in self.turns)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the model says."""

    parts: tuple[ModelPart, ...]
    stop: StopReason = "end"
    usage: Usage | None = None
    """None: counted by rule of thumb."""

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts if isinstance(part, Text))
