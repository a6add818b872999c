"""The name of a call in the result store, and its size."""

from __future__ import annotations

import hashlib
import json

from corpus2skill.domain.message import (
    Message,
    ModelMessage,
    ModelPart,
    ProgramPart,
    Text,
    Thinking,
    ToolCall,
    message_texts,
)
from corpus2skill.domain.model_call import TextCall


def call_key(identity: str, call: TextCall) -> str:
    """Return SHA-256 over all that decides the reply. What a call is for, and about, does not."""
    plain = {
        "identity": identity,
        "prompt_version": call.prompt_version,
        "system": call.system,
        "messages": [_plain(message) for message in call.messages],
        "schema": call.schema,
        "max_output_tokens": call.max_output_tokens,
    }
    canonical = json.dumps(plain, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()


def prompt_texts(call: TextCall) -> tuple[str, ...]:
    """Return all that is sent and counted: system, schema and the texts of the messages."""
    return (call.system, call.schema, *message_texts(call.messages))


def _plain(message: Message) -> list[str | list[str]]:
    speaker = "model" if isinstance(message, ModelMessage) else "program"
    return [speaker, *(_plain_part(part) for part in message.parts)]


def _plain_part(part: ModelPart | ProgramPart) -> list[str]:
    match part:
        case Text(text):
            return ["text", text]
        case Thinking(text=text, signature=signature):
            return ["thinking", text, signature or ""]
        case ToolCall(call_id=call_id, name=name, arguments=arguments):
            return ["tool_call", call_id, name, arguments]
        case _:
            return ["tool_result", part.call_id, part.content, str(part.is_error)]
