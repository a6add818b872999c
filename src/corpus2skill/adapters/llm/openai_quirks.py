"""What an endpoint that speaks OpenAI's chat completions may refuse: hardly two servers know the same."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from corpus2skill.adapters.llm.failures import Failure
from corpus2skill.adapters.llm.openai_effort import Effort

MaxTokensField = Literal["max_completion_tokens", "max_tokens"]
ReplyFormat = Literal["json_schema", "json_object", "text"]

_FORMAT_WORDS = (
    "response_format",
    "response format",
    "structured output",
    "json mode",
    "json_object",
    "grammar",
    "schema",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAIQuirks:
    """The features still used."""

    max_tokens_field: MaxTokensField
    was_field_changed: bool = False
    efforts: tuple[Effort, ...]
    """The first is asked for."""
    reply_format: ReplyFormat = "json_schema"
    has_usage_chunk: bool = True
    has_cache_key: bool = False
    has_streamed_tools: bool = True
    is_stream_trusted: bool = False
    """A stream has brought tool calls, or did not lack any: some servers silently leave them out."""
    has_tools: bool = True
    has_system_role: bool = True
    takes_made_up_calls: bool = True
    """A tool call that the model never made may stand in the history."""
    reasons_anyway: bool = False
    """A reply was used up by reasoning: later ones get an allowance for it."""
    is_bare: bool = False
    """Nothing but what every server knows."""

    @property
    def effort(self) -> Effort | None:
        return self.efforts[0] if self.efforts else None

    def without(self, failure: Failure) -> OpenAIQuirks | None:
        words = f"{failure.parameter} {failure.words}".lower()
        for concerns, change in (
            (("max_completion_tokens", "max_tokens"), self._with_other_field()),
            (("reasoning",), self._with_next_effort()),
            (_FORMAT_WORDS, self._with_other_format()),
            (("stream_options",), self._without("has_usage_chunk")),
            (("prompt_cache_key",), self._without("has_cache_key")),
            (("thought_signature", "tool_call", "tool call"), self._without("takes_made_up_calls")),
            (("system role", "role: system", "system message"), self._without("has_system_role")),
            (("stream",), self._without("has_streamed_tools") if "tool" in words else None),
            (("tool", "function call"), self._without("has_tools")),
            (("",), self._bare()),
        ):
            if change is not None and any(concern in words for concern in concerns):
                return change
        return None

    def _with_other_field(self) -> OpenAIQuirks | None:
        if self.was_field_changed:
            return None
        other: MaxTokensField = (
            "max_tokens" if self.max_tokens_field == "max_completion_tokens" else "max_completion_tokens"
        )
        return replace(self, max_tokens_field=other, was_field_changed=True)

    def _with_next_effort(self) -> OpenAIQuirks | None:
        return replace(self, efforts=self.efforts[1:]) if self.efforts else None

    def _with_other_format(self) -> OpenAIQuirks | None:
        match self.reply_format:
            case "json_schema":
                return replace(self, reply_format="json_object")
            case "json_object":
                return replace(self, reply_format="text")
            case "text":
                return None

    def _without(
        self,
        feature: Literal[
            "has_usage_chunk",
            "has_cache_key",
            "has_streamed_tools",
            "has_tools",
            "has_system_role",
            "takes_made_up_calls",
        ],
    ) -> OpenAIQuirks | None:
        changed = replace(self, **{feature: False})
        return changed if changed != self else None

    def _bare(self) -> OpenAIQuirks | None:
        """The last resort, where the words say nothing."""
        if self.is_bare:
            return None
        return replace(
            self,
            efforts=(),
            reply_format="text",
            has_usage_chunk=False,
            has_cache_key=False,
            is_bare=True,
        )
