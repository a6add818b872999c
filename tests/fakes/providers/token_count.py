"""What an answer costs."""

from __future__ import annotations

from corpus2skill.domain.message import ToolCall
from tests.fakes.providers.prompt import Answer
from tests.fakes.providers.wire import tokens


def output_tokens(answer: Answer) -> int:
    """Count the tokens of all that was generated, thinking counted."""
    words = (part.arguments if isinstance(part, ToolCall) else part.text for part in answer.parts)
    return max(1, sum(tokens(each) for each in words))
