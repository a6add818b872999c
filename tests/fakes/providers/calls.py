"""Everything that was asked of a server."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from tests.fakes.providers.http_server import HttpRequest
from tests.fakes.providers.wire import JsonObject, decode, obj

CallState = Literal["running", "answered", "failed", "cut", "abandoned"]
"""`answered`: a whole reply went out; `failed`: an error went out; `cut`: the server broke off on purpose;
`abandoned`: the client went away first."""
Clock = Callable[[], float]


@dataclass(slots=True, kw_only=True)
class Call:
    """One request. Model calls are numbered from 1 in the order they came; other routes have number 0."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    """Empty where the log does not keep bodies."""
    digest: str
    """Fingerprint of path and body."""
    number: int
    tries_before: int
    """Earlier model calls with the same digest."""
    in_flight: int
    """Model calls under way when it came, this one counted."""
    started_at: float
    finished_at: float | None = None
    status: int | None = None
    state: CallState = "running"
    output_text: str = ""
    """The text that the model said, where bodies are kept."""

    @property
    def json(self) -> JsonObject:
        """The body as a JSON object; an empty one where it is none."""
        try:
            return obj(decode(self.body))
        except ValueError:
            return {}

    @property
    def is_model_call(self) -> bool:
        return self.number > 0


@dataclass(slots=True, kw_only=True)
class CallLog:
    """All calls, oldest first, and what can be proved from them."""

    clock: Clock
    keeps_bodies: bool = True
    calls: list[Call] = field(default_factory=list[Call])
    max_in_flight: int = 0
    _in_flight: int = 0
    _numbered: int = 0
    _tries: dict[str, int] = field(default_factory=dict[str, int])

    def __iter__(self) -> Iterator[Call]:
        return iter(self.calls)

    def __len__(self) -> int:
        return len(self.calls)

    @property
    def model_calls(self) -> list[Call]:
        """Calls that would be paid for: completions, streamed or not."""
        return [call for call in self.calls if call.is_model_call]

    @property
    def answered(self) -> list[Call]:
        return [call for call in self.model_calls if call.state == "answered"]

    @property
    def paid_twice(self) -> list[Call]:
        """Model calls made although the very same call had been answered before they came."""
        done: dict[str, float] = {}
        for call in self.answered:
            finished = call.finished_at or 0.0
            done[call.digest] = min(done.get(call.digest, finished), finished)
        return [
            call for call in self.model_calls if call.digest in done and done[call.digest] < call.started_at
        ]

    def begin(self, request: HttpRequest, *, is_model_call: bool) -> Call:
        digest = hashlib.blake2b(request.path.encode() + b"\0" + request.body, digest_size=12).hexdigest()
        tries = 0
        if is_model_call:
            tries = self._tries.get(digest, 0)
            self._tries[digest] = tries + 1
            self._numbered += 1
            self._in_flight += 1
            self.max_in_flight = max(self.max_in_flight, self._in_flight)
        call = Call(
            method=request.method,
            path=request.path,
            headers=dict(request.headers) if self.keeps_bodies else {},
            body=request.body if self.keeps_bodies else b"",
            digest=digest,
            number=self._numbered if is_model_call else 0,
            tries_before=tries,
            in_flight=self._in_flight,
            started_at=self.clock(),
        )
        self.calls.append(call)
        return call

    def end(self, call: Call) -> None:
        call.finished_at = self.clock()
        if call.is_model_call:
            self._in_flight -= 1

    def clear(self) -> None:
        """Forget the calls; numbers start from 1 again."""
        self.calls.clear()
        self._tries.clear()
        self._numbered = 0
        self.max_in_flight = self._in_flight

    def summary(self) -> JsonObject:
        """Counts, for those who ask over HTTP."""
        states: dict[str, int] = {}
        for call in self.model_calls:
            states[call.state] = states.get(call.state, 0) + 1
        return {
            "calls": len(self.calls),
            "model_calls": self._numbered,
            "states": states,
            "distinct": len(self._tries),
            "paid_twice": len(self.paid_twice),
            "max_in_flight": self.max_in_flight,
        }
