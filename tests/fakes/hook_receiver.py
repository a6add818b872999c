"""A customer's system that receives webhooks, over real HTTP on loopback; it verifies what comes by itself."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """A request that came."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def message(self) -> Any:
        return json.loads(self.body)

    def is_signed_with(self, secret: str) -> bool:
        """As Standard Webhooks describes it, in a receiver's own words."""
        key = base64.b64decode(secret.removeprefix("whsec_"))
        signed = f"{self.headers['webhook-id']}.{self.headers['webhook-timestamp']}.".encode() + self.body
        wanted = "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
        return wanted in self.headers["webhook-signature"].split(" ")


@dataclass(slots=True)
class Receiver:
    """What it answers is a test's to set."""

    port: int
    status: int = 204
    headers: dict[str, str] = field(default_factory=dict[str, str])
    is_hanging: bool = False
    is_endless: bool = False
    hooks: list[Hook] = field(default_factory=list[Hook])
    released: threading.Event = field(default_factory=threading.Event)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hooks"


@contextmanager
def receiving() -> Generator[Receiver]:
    """A receiver for as long as the block lasts."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.hooks.append(Hook(path=self.path, headers=headers, body=body))
            with suppress(OSError):
                self.answer()

        def answer(self) -> None:
            if receiver.is_hanging:
                receiver.released.wait(30)
                return
            self.send_response(receiver.status)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.end_headers()
            while receiver.is_endless and not receiver.released.is_set():
                self.wfile.write(b"x" * 65_536)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
            """Nothing is printed."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    receiver = Receiver(server.server_address[1])
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield receiver
    finally:
        receiver.released.set()
        server.shutdown()
        thread.join()
        server.server_close()
