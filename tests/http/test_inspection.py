"""The worker's duty of looking into uploads, and disks that are full."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import Sequence

import pytest
from starlette.testclient import TestClient

from corpus2skill.application.server.event_hub import TopicKey
from corpus2skill.application.server.inspect_uploads import inspect_all, inspect_uploads
from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.event_log import NewEvent
from corpus2skill.domain.upload import UploadState
from tests.http.conftest import ClientOf

DOCUMENTS = "/v1/corpora/terms/documents"


def hand_in(api: TestClient, count: int) -> None:
    assert api.post("/v1/corpora", json={"corpus": "terms"}).status_code in (201, 409)
    files = [("files", (f"{number}.txt", f"第{number}条 解約")) for number in range(count)]
    assert api.post(DOCUMENTS, files=files).status_code == 202


def count(server: Server, tenant: str, state: UploadState) -> int:
    return server.uploads.counts(tenant)["terms"].get(state, 0)


@pytest.mark.anyio
@pytest.mark.requirement("S-21")
async def test_who_handed_in_much_does_not_hold_up_who_handed_in_little(
    client_of: ClientOf, server: Server
) -> None:
    """Fair between tenants: the little one's verdict is among the first to be told."""
    hand_in(client_of("acme"), 150)
    hand_in(client_of("beta"), 1)
    told: list[tuple[str, int]] = []

    def ear(topic: TopicKey, _last: int, events: Sequence[NewEvent]) -> None:
        told.append((topic[0], len(events)))

    server.events.heard_by(ear)
    await inspect_all(server)
    before = told[: [tenant for tenant, _ in told].index("beta")]
    assert sum(number for _, number in before) < 100
    assert count(server, "acme", "accepted") == 150


@pytest.mark.anyio
@pytest.mark.requirement("S-21")
async def test_what_was_under_way_when_the_worker_stopped_is_taken_up_again(
    client_of: ClientOf, server: Server
) -> None:
    """Stopped after the first verdicts; the next worker does the rest, and no document is lost."""
    hand_in(client_of("acme"), 150)
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def ear(_topic: TopicKey, _last: int, _events: Sequence[NewEvent]) -> None:
        loop.call_soon_threadsafe(stop.set)

    server.events.heard_by(ear)
    await inspect_uploads(server, stop)
    assert count(server, "acme", "received") > 0
    await inspect_all(server)
    assert count(server, "acme", "accepted") == 150


@pytest.mark.requirement("S-24")
def test_a_full_disk_is_said_and_leaves_nothing_half(api: TestClient, server: Server) -> None:
    """Issue: storing fails cleanly, and the next file that fits is taken."""
    hand_in(api, 1)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (3_000_000, before[1]))
    try:
        full = api.post(DOCUMENTS, files=[("files", ("a.txt", "a")), ("files", ("大.bin", b"x" * 5_000_000))])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (full.status_code, full.json()["code"], full.json()["retryable"]) == (503, "disk_full", True)
    assert not list((server.home / "uploads" / "incoming").iterdir())
    assert [row["name"] for row in api.get(DOCUMENTS).json()["data"]] == ["0.txt"]
    hand_in(api, 2)
