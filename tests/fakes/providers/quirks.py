"""How servers that speak OpenAI's format differ from OpenAI."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Quirks:
    """OpenAI itself where nothing is set."""

    is_lax: bool = False
    """Unknown parameters and odd histories are let through; errors are short."""
    needs_key: bool = True
    tokens_field: Literal["by model", "max_tokens", "max_completion_tokens", "either"] = "by model"
    """The field that limits the reply; another one is passed over in silence where the server is lax."""
    tools: Literal["yes", "not in a stream", "whole in a stream", "ignored", "refused"] = "yes"
    """`whole in a stream`: one delta carries a call with all its arguments and no index."""
    response_format: Literal["json_schema", "json_object", "ignored", "refused"] = "json_schema"
    """`json_object`: JSON of any shape; a schema is refused."""
    has_finish_reason: bool = True
    has_stream_usage: bool = True
    """`stream_options.include_usage` brings a last chunk with the usage."""
    has_usage: bool = True
    ends_with_done: bool = True
    thinks_in_text: bool = False
    """The reply begins with `<think>…</think>`."""
    thinks_beside: bool = False
    """Thinking comes in a field `reasoning_content`."""
    is_error_a_string: bool = False
    """`{"error": "text"}` instead of an object."""
    cuts_long_prompts: bool = False
    """A prompt over the window loses its beginning in silence, instead of being refused."""
    tells_window: bool = False
    """`/v1/models` has `max_model_len`."""
    batches: bool = True


OPENAI = Quirks()
OLLAMA_LIKE = Quirks(
    is_lax=True,
    needs_key=False,
    tokens_field="max_tokens",
    tools="not in a stream",
    response_format="ignored",
    has_finish_reason=False,
    has_stream_usage=False,
    thinks_in_text=True,
    cuts_long_prompts=True,
    batches=False,
)
VLLM_LIKE = Quirks(is_lax=True, tokens_field="either", thinks_beside=True, tells_window=True, batches=False)
LM_STUDIO_LIKE = Quirks(
    is_lax=True,
    needs_key=False,
    tokens_field="max_tokens",
    response_format="json_schema",
    has_stream_usage=False,
    is_error_a_string=True,
    batches=False,
)
GEMINI_LIKE = Quirks(is_lax=True, tokens_field="either", tools="whole in a stream", batches=False)
