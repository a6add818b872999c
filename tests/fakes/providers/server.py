"""A provider on loopback: takes calls, lets the script and the brain decide, keeps a record."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from types import TracebackType

from tests.fakes.providers.behaviour import Behaviour, Cut, ErrorAnswer, ErrorEvent, RawAnswer
from tests.fakes.providers.calls import Call, CallLog, Clock
from tests.fakes.providers.dialect import Dialect, HttpAnswer, json_answer
from tests.fakes.providers.http_server import Exchange, HttpRequest, HttpServer
from tests.fakes.providers.prompt import Answer, Prompt
from tests.fakes.providers.script import Asked, Script
from tests.fakes.providers.token_count import clipped
from tests.fakes.providers.wire import WireError, encode

Brain = Callable[[Prompt], Answer]
EVENT_STREAM = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}


class ProviderServer:
    """Runs in the event loop that starts it: `async with ProviderServer(dialect, brain) as server`."""

    def __init__(
        self,
        dialect: Dialect,
        brain: Brain,
        *,
        script: Script | None = None,
        latency: float = 0.0,
        pace: float = 0.0,
        port: int = 0,
        clock: Clock = time.monotonic,
        keeps_bodies: bool = True,
    ) -> None:
        self.dialect = dialect
        self.brain = brain
        self.latency = latency
        self.pace = pace
        self.gate: Callable[[], Awaitable[None]] | None = None
        """Awaited before each model call is looked at: a test holds calls by it without a clock."""
        self.calls = CallLog(clock=clock, keeps_bodies=keeps_bodies)
        self._clock = clock
        self._http = HttpServer(self._handle, port=port)
        self._script = Script()
        self._script_began = clock()
        self.script = script or Script()

    @property
    def script(self) -> Script:
        """What happens to which call. Setting it starts its seconds afresh."""
        return self._script

    @script.setter
    def script(self, script: Script) -> None:
        self._script, self._script_began = script, self._clock()

    @property
    def port(self) -> int:
        return self._http.port

    @property
    def origin(self) -> str:
        """`http://127.0.0.1:PORT`: the base URL of the anthropic SDK."""
        return f"http://{self._http.host}:{self.port}"

    @property
    def base_url(self) -> str:
        """What the provider's SDK wants as `base_url`."""
        return self.origin if self.dialect.provider == "anthropic" else f"{self.origin}/v1"

    @property
    def max_in_flight(self) -> int:
        return self.calls.max_in_flight

    async def start(self) -> None:
        await self._http.start()
        self._script_began = self._clock()

    async def stop(self) -> None:
        await self._http.stop()

    async def __aenter__(self) -> ProviderServer:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def _handle(self, request: HttpRequest, exchange: Exchange) -> None:
        if request.path.startswith("/_fake/"):
            _send(exchange, self._tell(request))
            return
        call = self.calls.begin(request, is_model_call=self.dialect.is_model_call(request))
        try:
            await self._serve(call, request, exchange)
        except WireError as error:
            call.state = "failed"
            self._respond(call, exchange, self.dialect.error(error))
        except asyncio.CancelledError:
            if call.state == "running":
                call.state = "abandoned"
            raise
        finally:
            self.calls.end(call)

    async def _serve(self, call: Call, request: HttpRequest, exchange: Exchange) -> None:
        key = self.dialect.authenticate(request)
        if not call.is_model_call:
            answer = self.dialect.route(request, self._answer_item)
            call.state = "answered"
            self._respond(call, exchange, answer)
            return
        prompt = self.dialect.read(request)
        if self.gate is not None:
            await self.gate()
        behaviour = self._behaviour(call, prompt)
        await _pause(self.latency if behaviour.latency is None else behaviour.latency)
        if await self._fails(call, behaviour, prompt, exchange, key):
            return
        answer = self._answer(prompt, behaviour)
        if self.calls.keeps_bodies:
            call.output_text = answer.text
        if prompt.is_streamed:
            await self._stream(call, prompt, answer, behaviour, exchange)
        else:
            await self._whole(call, prompt, answer, behaviour, exchange)

    def _behaviour(self, call: Call, prompt: Prompt) -> Behaviour:
        seconds = self._clock() - self._script_began
        return self._script.behaviour(Asked(call=call, prompt=prompt, seconds=seconds))

    async def _fails(
        self, call: Call, behaviour: Behaviour, prompt: Prompt, exchange: Exchange, key: str
    ) -> bool:
        """Let a call fail that fails before the model says anything; return whether it did."""
        match behaviour.fault:
            case ErrorAnswer() as fault:
                raise self._error(fault, key)
            case ErrorEvent(kind=kind) if not prompt.is_streamed:
                raise self.dialect.failure(kind, None)
            case RawAnswer() as raw:
                call.state = "failed"
                headers = {"content-type": raw.content_type, "content-encoding": raw.encoding}
                self._respond(call, exchange, HttpAnswer(status=raw.status, body=raw.body, headers=headers))
                return True
            case Cut(after_bytes=None, after_events=None, stall=stall):
                await _cut(call, exchange, stall)
                return True
            case _:
                return False

    def _error(self, fault: ErrorAnswer, key: str) -> WireError:
        error = self.dialect.failure(fault.kind, key if fault.echoes_key else None)
        if fault.retry_after is not None:
            error.headers["retry-after"] = f"{fault.retry_after:g}"
        if fault.retry_after_ms is not None:
            error.headers["retry-after-ms"] = str(fault.retry_after_ms)
        return error

    def _answer(self, prompt: Prompt, behaviour: Behaviour) -> Answer:
        answer = behaviour.answer or clipped(self.brain(prompt), prompt.max_tokens)
        return answer if behaviour.edit is None else behaviour.edit(answer, prompt)

    def _answer_item(self, prompt: Prompt, body: bytes) -> Answer:
        """Answer one request of a batch as the script says: errors and what is said, no cuts."""
        request = HttpRequest(method="POST", path="(batch)", body=body)
        call = CallLog(clock=self._clock, keeps_bodies=False).begin(request, is_model_call=False)
        behaviour = self._behaviour(call, prompt)
        if isinstance(behaviour.fault, ErrorAnswer):
            raise self.dialect.failure(behaviour.fault.kind, None)
        return self._answer(prompt, behaviour)

    async def _whole(
        self, call: Call, prompt: Prompt, answer: Answer, behaviour: Behaviour, exchange: Exchange
    ) -> None:
        body = encode(self.dialect.whole(prompt, answer))
        match behaviour.fault:
            case Cut(after_bytes=int(sent), stall=stall):
                exchange.respond_partly(200, _JSON, body, sent)
                await _cut(call, exchange, stall)
            case Cut(stall=stall):
                exchange.respond_partly(200, _JSON, body, 0)
                await _cut(call, exchange, stall)
            case _:
                call.state = "answered"
                self._respond(call, exchange, HttpAnswer(status=200, body=body))

    async def _stream(
        self, call: Call, prompt: Prompt, answer: Answer, behaviour: Behaviour, exchange: Exchange
    ) -> None:
        call.status = 200
        exchange.start(
            200, {**EVENT_STREAM, "request-id": _request_id(call), "x-request-id": _request_id(call)}
        )
        pace = self.pace if behaviour.pace is None else behaviour.pace
        events = self.dialect.events(prompt, answer)
        sent = await _send_events(exchange, _until_fault(events, behaviour), pace)
        match behaviour.fault:
            case Cut(stall=stall):
                await _cut(call, exchange, stall)
                return
            case ErrorEvent(kind=kind):
                exchange.write(self.dialect.error_event(self.dialect.failure(kind, None)))
                call.state = "failed"
            case _:
                assert sent == len(events)
                call.state = "answered"
        exchange.finish()

    def _respond(self, call: Call, exchange: Exchange, answer: HttpAnswer) -> None:
        call.status = answer.status
        name = "request-id" if self.dialect.provider == "anthropic" else "x-request-id"
        _send(exchange, answer, {name: _request_id(call)})

    def _tell(self, request: HttpRequest) -> HttpAnswer:
        """Answer those who run the fake as another process: `/_fake/calls`, `/_fake/summary`, `/_fake/clear`."""
        match request.path:
            case "/_fake/summary":
                return json_answer(self.calls.summary())
            case "/_fake/calls":
                return json_answer(
                    [
                        {
                            "number": call.number,
                            "path": call.path,
                            "status": call.status,
                            "state": call.state,
                            "digest": call.digest,
                            "tries_before": call.tries_before,
                            "started_at": call.started_at,
                            "finished_at": call.finished_at,
                            "body": call.body.decode("utf-8", "replace"),
                            "output_text": call.output_text,
                        }
                        for call in self.calls
                    ]
                )
            case "/_fake/clear":
                self.calls.clear()
                return json_answer({})
            case _:
                return json_answer({"error": "calls, summary or clear"}, status=404)


_JSON = {"content-type": "application/json"}


def _send(exchange: Exchange, answer: HttpAnswer, more: dict[str, str] | None = None) -> None:
    exchange.respond(answer.status, {**answer.headers, **(more or {})}, answer.body)


def _request_id(call: Call) -> str:
    return f"req_{call.number:06d}_{call.digest[:8]}"


async def _send_events(exchange: Exchange, events: list[bytes], pace: float) -> int:
    for event in events:
        exchange.write(event)
        if pace:
            await asyncio.sleep(pace)
    return len(events)


def _until_fault(events: list[bytes], behaviour: Behaviour) -> list[bytes]:
    match behaviour.fault:
        case Cut(after_events=int(count)) | ErrorEvent(after_events=count):
            return events[:count]
        case Cut():
            return []
        case _:
            return events


async def _cut(call: Call, exchange: Exchange, stall: float | None) -> None:
    if stall is None:
        await asyncio.Event().wait()
    elif stall:
        await asyncio.sleep(stall)
    call.state = "cut"
    exchange.cut()


async def _pause(seconds: float) -> None:
    if seconds > 0:
        await asyncio.sleep(seconds)
