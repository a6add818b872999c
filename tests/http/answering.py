"""A server whose tenant has a compiled corpus, for tests of conversations: in process, and over loopback."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import anyio
import uvicorn

from corpus2skill.application.compile_documents import compile_documents
from corpus2skill.application.compile_engine import silent
from corpus2skill.application.compile_options import CompileOptions
from corpus2skill.application.server.sign_in import new_token
from corpus2skill.application.server_wiring import Server
from corpus2skill.application.wiring import TENANT
from corpus2skill.domain.people import SCOPES
from corpus2skill.entrypoints.http.app import create_app
from corpus2skill.entrypoints.http.serving import Door
from tests.e2e.texts import JAPANESE

CORPUS = "terms"
QUESTION = "年額プランを解約したら、いつまで使えますか？"


def compile_corpus(server: Server, folder: Path, tenant: str = TENANT, corpus: str = CORPUS) -> None:
    """Compile little documents with the offline engine and switch to them."""
    for name, text in JAPANESE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")

    async def work() -> None:
        options = CompileOptions(corpus=corpus, paths=(folder,), is_confirmed=True)
        await compile_documents(server.workspace(tenant), options, silent)

    anyio.run(work)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """An event as it came over the wire."""

    number: int
    kind: str
    data: dict[str, Any]


class Client:
    """A caller of a real server; every request has a connection of its own."""

    def __init__(self, port: int, secret: str) -> None:
        self.port = port
        self._headers = {"Authorization": f"Bearer {secret}", "Host": "localhost"}

    def ask(
        self, method: str, path: str, body: object = None, **headers: str
    ) -> tuple[int, dict[str, Any], dict[str, str]]:
        """Return status, JSON and headers of an answer."""
        with self._answer(method, path, body, headers) as response:
            text = response.read().decode("utf-8")
            return response.status, json.loads(text) if text else {}, dict(response.headers)

    def begin(self, question: str = QUESTION, **more: object) -> str:
        """Ask in a new conversation and return the run's id."""
        _, session, _ = self.ask("POST", "/v1/sessions", {"corpus": CORPUS, **more})
        status, run, _ = self.ask(
            "POST", f"/v1/sessions/{session['session_id']}/runs", {"question": question}
        )
        assert status == 202, run
        return str(run["run_id"])

    def events(self, path: str, last: str | None = None, most: int | None = None) -> list[Told]:
        """Watch until the stream ends, or until so many events came; then hang up."""
        with self.watching(path, last) as told:
            events: list[Told] = []
            for event in told:
                events.append(event)
                if most is not None and len(events) >= most:
                    break
            return events

    @contextmanager
    def watching(self, path: str, last: str | None = None) -> Generator[Iterator[Told]]:
        headers = {} if last is None else {"Last-Event-ID": last}
        with self._answer("GET", path, None, headers) as response:
            assert response.status in (200, 204), response.read()
            if response.status == 200:
                assert response.headers["content-type"].startswith("text/event-stream")
                assert response.headers["cache-control"] == "no-store"
                assert response.headers["x-accel-buffering"] == "no"
            yield _told(response)

    @contextmanager
    def _answer(
        self, method: str, path: str, body: object, headers: dict[str, str]
    ) -> Generator[HTTPResponse]:
        data = None if body is None else json.dumps(body).encode("utf-8")
        kind = {} if data is None else {"Content-Type": "application/json"}
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request(method, path, data, {**self._headers, **kind, **headers})
            with connection.getresponse() as response:
                yield response
        finally:
            connection.close()


def _told(response: HTTPResponse) -> Iterator[Told]:
    fields: dict[str, str] = {}
    while line := response.readline():
        text = line.decode("utf-8").rstrip("\n")
        if text and not text.startswith(":"):
            name, _, value = text.partition(": ")
            fields[name] = value
        elif fields.get("data") is not None:
            data = json.loads(fields["data"])
            if "event" in fields:
                yield Told(number=int(fields["id"]), kind=fields["event"], data=data)
            else:
                yield Told(number=data["id"], kind=data["event"], data={**data, "cursor": fields["id"]})
            fields = {}


@contextmanager
def serving(server: Server) -> Generator[Client]:
    """The server over loopback, in a thread, as `serve` runs it; stopped as a signal stops it."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        host = _Door(server)
        thread = threading.Thread(target=host.run, args=([listening],), daemon=True)
        thread.start()
        _, secret = new_token(server, TENANT, server.ids.new("name"), SCOPES, "test")
        try:
            yield Client(listening.getsockname()[1], secret)
        finally:
            host.should_exit = True
            thread.join()


class _Door(Door):
    """The server's own door without its signals, which only a main thread may take."""

    def __init__(self, server: Server) -> None:
        app = create_app(server)
        super().__init__(
            uvicorn.Config(app, log_config=None, lifespan="on", timeout_graceful_shutdown=10),
            lambda: None,
            app.state.endings,
            app.state.hub,
            server.server_settings.stop_seconds,
        )

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield
