"""Hands in documents, compiles them, asks one question and shows the way to the answer.

    export CORPUS2SKILL_URL=http://127.0.0.1:8484
    export CORPUS2SKILL_TOKEN=...     # corpus2skill tokens add example --scope read --scope ask --scope write
    python examples/ask.py terms "年額プランを解約したら、いつまで使えますか？" documents/*.txt

Needs httpx2. A stream that is cut is taken up again where it was: nothing is lost and nothing comes twice.
"""

from __future__ import annotations

import json
import os
import sys
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2

_TRIES = 5


def main(corpus: str, question: str, files: list[Path]) -> int:
    headers = {"Authorization": f"Bearer {os.environ['CORPUS2SKILL_TOKEN']}"}
    address = os.environ.get("CORPUS2SKILL_URL", "http://127.0.0.1:8484")
    with httpx2.Client(base_url=address, headers=headers, timeout=60) as client:
        hand_in(client, corpus, files)
        state = compiled(client, corpus)
        if state != "succeeded":
            print(f"The compile ended as {state}.", file=sys.stderr)
            return 1
        show(asked(client, corpus, question))
    return 0


def hand_in(client: httpx2.Client, corpus: str, files: list[Path]) -> None:
    if client.get(f"/v1/corpora/{corpus}").status_code == 404:
        post(client, "/v1/corpora", {"corpus": corpus})
    parts = [("files", (file.name, file.read_bytes())) for file in files]
    checked(client.post(f"/v1/corpora/{corpus}/documents", files=parts))


def compiled(client: httpx2.Client, corpus: str) -> str:
    """Compile and return the state in which the job ended."""
    begun = post(client, f"/v1/corpora/{corpus}/jobs", {})
    job = begun.get("job", begun)["job_id"]
    for kind, data in events(client, f"/v1/jobs/{job}/events"):
        if kind == "job.state":
            print(f"compile: {data['state']}", file=sys.stderr)
    return str(checked(client.get(f"/v1/jobs/{job}"))["state"])


def asked(client: httpx2.Client, corpus: str, question: str) -> dict[str, Any]:
    """Ask in a new conversation, show each step, and return the run as its record has it."""
    session = post(client, "/v1/sessions", {"corpus": corpus})["session_id"]
    run = post(client, f"/v1/sessions/{session}/runs", {"question": question})["run_id"]
    for kind, data in events(client, f"/v1/runs/{run}/events"):
        if kind == "node.visited":
            print(f"{data['n']}. {data['title']}  {data['path']}", file=sys.stderr)
    return checked(client.get(f"/v1/runs/{run}"))


def show(run: dict[str, Any]) -> None:
    print(run["answer"])
    for source in run["citations"]:
        print(f"[{source['n']}] {source['source']} › {source['place']}")


def post(client: httpx2.Client, path: str, body: object) -> dict[str, Any]:
    """POST under a key of its own, so that a repeated request does nothing twice."""
    key = {"Idempotency-Key": str(uuid.uuid4())}
    for tries in range(_TRIES):
        try:
            return checked(client.post(path, json=body, headers=key))
        except httpx2.TransportError:
            time.sleep(2**tries)
    raise SystemExit(f"{path} cannot be reached")


def events(client: httpx2.Client, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the events of a stream until it ends; one that is cut is taken up behind the last event."""
    last = ""
    for tries in range(_TRIES):
        try:
            with client.stream("GET", path, headers={"Last-Event-ID": last} if last else {}) as response:
                if response.status_code == 204:
                    return
                fields: dict[str, str] = {}
                for line in response.iter_lines():
                    name, _, value = line.partition(": ")
                    if name in ("id", "event", "data"):
                        fields[name] = value
                    elif not line and "data" in fields:
                        last = fields["id"]
                        yield fields["event"], json.loads(fields["data"])
                        fields = {}
            return
        except httpx2.TransportError:
            time.sleep(2**tries)


def checked(response: httpx2.Response) -> dict[str, Any]:
    """The answer's JSON; a problem (RFC 9457) says in words what was wrong."""
    body: dict[str, Any] = response.json()
    if response.is_error:
        raise SystemExit(f"{response.status_code} {body['code']}: {body['detail']} ({body['request_id']})")
    return body


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], [Path(name) for name in sys.argv[3:]]))
