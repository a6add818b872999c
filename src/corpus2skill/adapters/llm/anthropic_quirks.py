"""What an endpoint that speaks Anthropic's Messages API may refuse."""

from __future__ import annotations

from dataclasses import dataclass, replace

from corpus2skill.adapters.llm.anthropic_thinking import Thinking, next_thinking
from corpus2skill.adapters.llm.failures import Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class AnthropicQuirks:
    """The features still used."""

    thinking: Thinking
    has_schema: bool = True
    """Replies can be held to a JSON Schema."""
    has_caching: bool = True
    takes_made_up_calls: bool = True
    """A tool call that the model never made may stand in the history."""
    is_bare: bool = False
    """Nothing but what every server knows."""

    def without(self, failure: Failure) -> AnthropicQuirks | None:
        words = f"{failure.parameter} {failure.words}".lower()
        for concerns, change in (
            (("cache_control",), self._without_caching()),
            (("tool_use", "tool use"), self._without_made_up_calls()),
            (("thinking", "effort"), self._thinking_otherwise()),
            (("output_config", "output_format", "json_schema", "schema"), self._without_schema()),
            (("",), self._bare()),
        ):
            if change is not None and any(concern in words for concern in concerns):
                return change
        return None

    def _without_caching(self) -> AnthropicQuirks | None:
        return replace(self, has_caching=False) if self.has_caching else None

    def _without_made_up_calls(self) -> AnthropicQuirks | None:
        return replace(self, takes_made_up_calls=False) if self.takes_made_up_calls else None

    def _thinking_otherwise(self) -> AnthropicQuirks | None:
        mode = next_thinking(self.thinking)
        return replace(self, thinking=mode) if mode is not None else None

    def _without_schema(self) -> AnthropicQuirks | None:
        return replace(self, has_schema=False) if self.has_schema else None

    def _bare(self) -> AnthropicQuirks | None:
        """The last resort, where the words say nothing."""
        if self.is_bare:
            return None
        return replace(self, thinking="unsaid", has_schema=False, has_caching=False, is_bare=True)
