"""Exports the records of all conversations and checks their chain against the head that was kept the last time.

    export CORPUS2SKILL_TOKEN=...     # corpus2skill tokens add audit --scope records
    python examples/export_records.py records.jsonl --kept-head HEAD

Needs httpx2. Prints the chain's head: keep it where the server cannot reach it.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import httpx2


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--kept-head")
    parser.add_argument("--since", help="a date, as 2026-04-01")
    options = parser.parse_args()
    headers = {"Authorization": f"Bearer {os.environ['CORPUS2SKILL_TOKEN']}"}
    address = os.environ.get("CORPUS2SKILL_URL", "http://127.0.0.1:8484")
    with httpx2.Client(base_url=address, headers=headers, timeout=60) as client:
        exported(client, options.file, {"since": options.since} if options.since else {})
        return verified(client, options.kept_head)


def exported(client: httpx2.Client, file: Path, which: dict[str, str]) -> None:
    """Write the records as they come, however many there are."""
    with client.stream("GET", "/v1/exports", params={"format": "jsonl", **which}) as response:
        response.raise_for_status()
        with file.open("wb") as out:
            for piece in response.iter_bytes():
                out.write(piece)


def verified(client: httpx2.Client, kept_head: str | None) -> int:
    response = client.get("/v1/records/verify", params={"kept_head": kept_head} if kept_head else {})
    response.raise_for_status()
    verdict = response.json()
    for fault in verdict["faults"]:
        print(fault["message"], file=sys.stderr)
    print(verdict["head"])
    return 0 if verdict["is_sound"] else 1


if __name__ == "__main__":
    sys.exit(main())
