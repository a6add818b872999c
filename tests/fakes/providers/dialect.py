"""What a server asks of a provider's wire format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from tests.fakes.providers.behaviour import ErrorKind
from tests.fakes.providers.http_server import HttpRequest
from tests.fakes.providers.prompt import Answer, Prompt, Provider
from tests.fakes.providers.wire import JsonObject, WireError, encode


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAnswer:
    """A whole answer."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=lambda: {"content-type": "application/json"})


AnswerItem = Callable[[Prompt, bytes], Answer]
"""Answers one request of a batch. Raises WireError where the script says so."""


def json_answer(value: object, status: int = 200) -> HttpAnswer:
    return HttpAnswer(status=status, body=encode(value))


class Dialect(Protocol):
    """One provider's routes, rules and shapes."""

    provider: Provider

    def is_model_call(self, request: HttpRequest) -> bool: ...

    def authenticate(self, request: HttpRequest) -> str:
        """Return the key that came.

        Raises:
            WireError: none, or a wrong one.
        """
        ...

    def read(self, request: HttpRequest) -> Prompt:
        """Check a model call as the provider does.

        Raises:
            WireError: the provider would refuse it.
        """
        ...

    def whole(self, prompt: Prompt, answer: Answer) -> JsonObject: ...

    def events(self, prompt: Prompt, answer: Answer) -> list[bytes]:
        """The stream, event by event."""
        ...

    def failure(self, kind: ErrorKind, key: str | None) -> WireError:
        """An error of that kind; its text repeats `key` where one is given."""
        ...

    def error(self, error: WireError) -> HttpAnswer: ...

    def error_event(self, error: WireError) -> bytes: ...

    def route(self, request: HttpRequest, answer_item: AnswerItem) -> HttpAnswer:
        """Answer a request that is no model call.

        Raises:
            WireError: the provider would refuse it, or has no such route.
        """
        ...
