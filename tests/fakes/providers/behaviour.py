"""What a server does with a call: how long it takes, how it fails, what it says.

A test builds these with the functions here and gives them to a `Script`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from corpus2skill.domain.message import ModelPart, StopReason, Text, ToolCall, Usage
from tests.fakes.providers.prompt import Answer, Prompt

ErrorKind = Literal[
    "authentication",
    "permission",
    "rate_limit",
    "overloaded",
    "server_error",
    "bad_gateway",
    "unavailable",
    "gateway_timeout",
    "quota",
    "billing",
    "payment",
]
"""`quota`: a spending limit of the account's; `billing`: no credit left; `payment`: 402, as gateways say it too."""
Edit = Callable[[Answer, Prompt], Answer]
"""Changes what the brain said, before it is put on the wire."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorAnswer:
    """An error as this provider words it."""

    kind: ErrorKind
    retry_after: float | None = None
    """Seconds, as `retry-after`."""
    retry_after_ms: int | None = None
    """As `retry-after-ms`."""
    echoes_key: bool = False
    """The error's text repeats the key that came."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RawAnswer:
    """Bytes that no provider meant: a gateway's page, half a JSON."""

    status: int
    body: bytes
    content_type: str = "application/json"
    encoding: str = "identity"
    """What is said of the body; it goes out as it is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """The connection closes: before anything, within a body, or between the events of a stream."""

    after_bytes: int | None = None
    """Bytes of a whole body that are sent; None: not even a head."""
    after_events: int | None = None
    """Events of a stream that are sent."""
    stall: float | None = 0.0
    """Seconds of silence before the cut; None: silence until the client gives up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorEvent:
    """A stream that tells of an error on its way. A call that is not streamed fails whole."""

    kind: ErrorKind = "overloaded"
    after_events: int = 3


Fault = ErrorAnswer | RawAnswer | Cut | ErrorEvent


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """What a server does with one call; where a field is None it does as always."""

    latency: float | None = None
    """Seconds before the answer begins."""
    pace: float | None = None
    """Seconds between the events of a stream."""
    fault: Fault | None = None
    answer: Answer | None = None
    """Said instead of what the brain would say."""
    edit: Edit | None = None


AS_ALWAYS = Behaviour()


def slow(seconds: float) -> Behaviour:
    return Behaviour(latency=seconds)


def fails(kind: ErrorKind, *, retry_after: float | None = None, echoes_key: bool = False) -> Behaviour:
    """An error of that kind, with its real status and body."""
    return Behaviour(fault=ErrorAnswer(kind=kind, retry_after=retry_after, echoes_key=echoes_key))


def rate_limited(retry_after: float | None = None, *, retry_after_ms: int | None = None) -> Behaviour:
    """429."""
    return Behaviour(
        fault=ErrorAnswer(kind="rate_limit", retry_after=retry_after, retry_after_ms=retry_after_ms)
    )


def overloaded() -> Behaviour:
    """529 of Anthropic; 503 of OpenAI."""
    return fails("overloaded")


def cut_before() -> Behaviour:
    """The server hangs up without a word."""
    return Behaviour(fault=Cut())


def cut_within(after_bytes: int = 40) -> Behaviour:
    """The server hangs up within the body of a whole answer."""
    return Behaviour(fault=Cut(after_bytes=after_bytes))


def cut_stream(after_events: int = 3) -> Behaviour:
    """The server hangs up in the middle of a stream."""
    return Behaviour(fault=Cut(after_events=after_events, after_bytes=40))


def stalled(after_events: int | None = None, *, seconds: float | None = None) -> Behaviour:
    """Silence: at once, or after some events of a stream; until the client gives up, or for some seconds."""
    return Behaviour(fault=Cut(after_events=after_events, stall=seconds))


def error_event(kind: ErrorKind = "overloaded", after_events: int = 3) -> Behaviour:
    """A stream that tells of an error on its way."""
    return Behaviour(fault=ErrorEvent(kind=kind, after_events=after_events))


def malformed_body() -> Behaviour:
    """200, and a body that is half a JSON."""
    return Behaviour(fault=RawAnswer(status=200, body=b'{"id": "half", "content": [{"type": "te'))


def gateway_page(status: int = 502) -> Behaviour:
    """The HTML page of a proxy in front of the provider."""
    page = b"<html><head><title>Bad Gateway</title></head><body><center><h1>Bad Gateway</h1></center></body></html>"
    return Behaviour(fault=RawAnswer(status=status, body=page, content_type="text/html"))


def says(words: str, *, stop: StopReason = "end", usage: Usage | None = None) -> Behaviour:
    """The model says exactly this."""
    return Behaviour(answer=Answer(parts=(Text(words),), stop=stop, usage=usage))


def answers(*parts: ModelPart, stop: StopReason | None = None, usage: Usage | None = None) -> Behaviour:
    """The model answers exactly these parts; the stop reason follows from them unless it is given."""
    calls = any(isinstance(part, ToolCall) for part in parts)
    return Behaviour(answer=Answer(parts=parts, stop=stop or ("tool_use" if calls else "end"), usage=usage))


def edited(edit: Edit) -> Behaviour:
    """The brain's answer, changed by a function: the kinds there are stand in `rubbish`."""
    return Behaviour(edit=edit)
