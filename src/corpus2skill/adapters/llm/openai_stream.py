"""A streamed chat completion, put together from its chunks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from corpus2skill.adapters.llm.openai_wire import WireCompletion, extra_part, stop_of, usage_of
from corpus2skill.adapters.llm.redaction import Redactor, StreamRedactor
from corpus2skill.adapters.llm.spoken_thoughts import SpokenThoughts, without_thoughts
from corpus2skill.adapters.llm.token_count import token_count
from corpus2skill.domain.message import ModelPart, Reply, Text, ToolCall, Usage

if TYPE_CHECKING:
    from openai.types import CompletionUsage
    from openai.types.chat import ChatCompletionChunk
    from openai.types.chat.chat_completion_chunk import ChoiceDeltaToolCall


@dataclass(slots=True)
class _Call:
    call_id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list[str])
    extra: object = None

    @property
    def arguments(self) -> str:
        return "".join(self.pieces) or "{}"


class OpenAIStream:
    """Takes chunks in their order."""

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._shown = StreamRedactor(redactor)
        self._thoughts = SpokenThoughts()
        self._pieces: list[str] = []
        self._refusal: list[str] = []
        self._calls: dict[int, _Call] = {}
        self._finish: str | None = None
        self._usage = Usage()
        self.has_begun = False
        """A chunk came that only a model API sends."""

    @property
    def is_complete(self) -> bool:
        return self._finish is not None

    @property
    def could_be_complete(self) -> bool:
        """True for a stream without a finish reason that has something whole in it: some servers never send one."""
        if self._calls:
            return all(_is_object(call.arguments) for call in self._calls.values())
        return bool("".join(self._pieces).strip())

    def add(self, chunk: ChatCompletionChunk) -> str:
        """Take one chunk; return the text that may be shown now.

        Raises:
            AttributeError, KeyError, TypeError: the chunk is not as it should be.
        """
        self.has_begun = self.has_begun or isinstance(cast("object", chunk.choices), list)
        if chunk.usage is not None:
            self._usage = _usage(chunk.usage)
        if not chunk.choices:
            return ""
        choice = chunk.choices[0]
        self._finish = choice.finish_reason or self._finish
        delta = choice.delta
        for call in delta.tool_calls or ():
            self._take_call(call)
        if delta.refusal:
            self._refusal.append(delta.refusal)
        if not delta.content:
            return ""
        return self._said(self._thoughts.feed(delta.content))

    def rest(self) -> str:
        """Return the end of the text, held back until now."""
        return self._said(self._thoughts.rest()) + self._shown.rest()

    def reply(self) -> Reply:
        stop = stop_of(self._finish, has_calls=bool(self._calls), is_refused=bool(self._refusal))
        parts = tuple(self._redactor.clean_part(part) for part in self._parts())
        return Reply(parts=parts, stop=stop, usage=self._usage)

    def _said(self, words: str) -> str:
        if not words:
            return ""
        self._pieces.append(words)
        return self._shown.feed(words)

    def _parts(self) -> Iterator[ModelPart]:
        if text := "".join(self._pieces) or "".join(self._refusal):
            yield Text(text)
        calls = [(call.call_id or f"call_{index}", call) for index, call in sorted(self._calls.items())]
        if extras := {number: call.extra for number, (_, call) in enumerate(calls) if call.extra is not None}:
            yield extra_part(extras)
        for call_id, call in calls:
            yield ToolCall(call_id=call_id, name=call.name, arguments=call.arguments)

    def _take_call(self, delta: ChoiceDeltaToolCall) -> None:
        call = self._calls.setdefault(self._index(delta), _Call())
        call.call_id = call.call_id or delta.id or ""
        call.extra = (delta.model_extra or {}).get("extra_content", call.extra)
        if delta.function is not None:
            call.name = call.name or delta.function.name or ""
            call.pieces.append(delta.function.arguments or "")

    def _index(self, delta: ChoiceDeltaToolCall) -> int:
        """Servers that send calls whole may leave the index out, or give every call the index 0."""
        index = cast("int | None", delta.index)
        last = len(self._calls) - 1
        if index is None:
            return last if delta.id is None and last >= 0 else last + 1
        known = self._calls.get(index)
        if known is not None and delta.id and known.call_id and delta.id != known.call_id:
            return last + 1
        return index


def whole_reply(completion: WireCompletion, redactor: Redactor) -> Reply:
    """Return a reply that was not streamed. `completion` has a choice."""
    assert completion.choices
    choice = completion.choices[0]
    calls = choice.message.tool_calls or []
    parts: list[ModelPart] = []
    if text := without_thoughts(choice.message.text) or choice.message.refusal or "":
        parts.append(Text(text))
    ids = [call.id or f"call_{number}" for number, call in enumerate(calls)]
    if extras := {
        number: call.extra_content for number, call in enumerate(calls) if call.extra_content is not None
    }:
        parts.append(extra_part(extras))
    for call_id, call in zip(ids, calls, strict=True):
        given = call.function.arguments
        arguments = json.dumps(given, ensure_ascii=False) if isinstance(given, dict) else given or "{}"
        parts.append(ToolCall(call_id=call_id, name=call.function.name or "", arguments=arguments))
    is_refused = bool(choice.message.refusal)
    stop = stop_of(choice.finish_reason, has_calls=bool(calls), is_refused=is_refused)
    cleaned = tuple(redactor.clean_part(part) for part in parts)
    return Reply(parts=cleaned, stop=stop, usage=usage_of(completion.usage))


def _usage(usage: CompletionUsage) -> Usage:
    details = usage.prompt_tokens_details
    return Usage(
        input_tokens=token_count(usage.prompt_tokens),
        output_tokens=token_count(usage.completion_tokens),
        cached_tokens=token_count(details.cached_tokens) if details else 0,
        cache_written_tokens=token_count(details.cache_write_tokens) if details else 0,
    )


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
