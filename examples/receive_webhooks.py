"""Receives webhooks, believes none that is not signed, and prints what it was told.

    export WEBHOOK_SECRET=whsec_...   # shown once, when the endpoint is made
    python examples/receive_webhooks.py --port 9000

Needs nothing but Python. Behind a proxy with TLS; the server sends to https, and to the internet, unless its
operator allows more (CORPUS2SKILL_WEBHOOK_SCHEMES, CORPUS2SKILL_WEBHOOK_NETWORKS).
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import hmac
import json
import os
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

_WINDOW_SECONDS = 300
_MOST_BYTES = 1_000_000


def is_genuine(secret: str, message: str, timestamp: str, signatures: str, body: bytes, now: float) -> bool:
    """After Standard Webhooks: signed by the server, and not long ago, so that nobody can send it again later."""
    if not timestamp.isdecimal() or abs(now - int(timestamp)) > _WINDOW_SECONDS:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{message}.{timestamp}.".encode() + body, hashlib.sha256).digest()
    wanted = f"v1,{base64.b64encode(digest).decode()}"
    # Two signatures stand there for a day after the secret was changed.
    return any(hmac.compare_digest(wanted, one) for one in signatures.split(" "))


class Receiver(BaseHTTPRequestHandler):
    seen: ClassVar[set[str]] = set()
    """Ids of messages: one that comes again, because the first answer was lost, is not acted on twice."""

    def do_POST(self) -> None:
        body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), _MOST_BYTES))
        message = self.headers.get("webhook-id", "")
        genuine = is_genuine(
            os.environ["WEBHOOK_SECRET"],
            message,
            self.headers.get("webhook-timestamp", ""),
            self.headers.get("webhook-signature", ""),
            body,
            time.time(),
        )
        self.send_response(204 if genuine else 401)
        self.end_headers()
        if genuine and message not in self.seen:
            self.seen.add(message)
            told = json.loads(body)
            print(told["type"], json.dumps(told["data"], ensure_ascii=False), flush=True)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
        """Only what was told is printed."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=9000)
    server = ThreadingHTTPServer(("127.0.0.1", parser.parse_args().port), Receiver)
    print(f"listening on {server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
