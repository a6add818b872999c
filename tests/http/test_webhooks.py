"""Webhooks: endpoints over HTTP, and messages that reach a real receiver on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from starlette.testclient import TestClient

from corpus2skill.adapters.webhook_sender import CheckedSender
from corpus2skill.application.server.deliver_announcements import Courier
from corpus2skill.application.server.sign_in import new_token
from corpus2skill.application.server_wiring import Server, open_server, webhook_sender
from corpus2skill.domain.people import SCOPES
from corpus2skill.domain.webhook import parsed_network
from corpus2skill.entrypoints.http.app import create_app
from corpus2skill.settings import ServerSettings
from tests.fakes.clock import FakeClock
from tests.fakes.hook_receiver import Receiver, receiving

_SETTINGS = ServerSettings(webhook_schemes=("https", "http"), webhook_networks=("127.0.0.0/8",))
DAY = 86_400.0
_UNUSABLE = (
    ("ftp://example.jp/", "webhook_scheme"),
    ("https://user:pass@example.jp/", "webhook_url"),
    ("https://example.jp/#a", "webhook_url"),
    ("https:///hooks", "webhook_url"),
    ("https://example.jp:99999/", "webhook_url"),
    ("https://例え.jp/", "webhook_url"),
    ("https://exa mple.jp/", "webhook_url"),
    ("https://127.0.0.1/", "webhook_private"),
    ("https://[::ffff:10.0.0.1]/", "webhook_private"),
    ("https://169.254.169.254/latest", "webhook_private"),
)
_INSIDE = (
    "127.0.0.1",
    "10.0.0.8",
    "172.16.9.9",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "100.100.100.200",
    "168.63.129.16",
    "0.0.0.0",
    "224.0.0.1",
    "255.255.255.255",
    "::1",
    "::ffff:10.0.0.1",
    "::ffff:127.0.0.1",
    "64:ff9b::a00:1",
    "2002:7f00:1::",
    "fe80::1",
    "fd00:ec2::254",
    "ff02::1",
    "::",
)


class Shop:
    """A server whose clock a test moves, and a client of it that may do everything."""

    def __init__(self, home: Path, settings: ServerSettings = _SETTINGS) -> None:
        self.clock = FakeClock()
        self.server: Server = replace(open_server(home, settings), clock=self.clock)
        _, secret = new_token(self.server, "local", "test", SCOPES, "test")
        self.api = TestClient(
            create_app(self.server),
            base_url="http://localhost",
            headers={"Authorization": f"Bearer {secret}"},
            raise_server_exceptions=False,
        )

    def endpoint(self, url: str, *kinds: str) -> dict[str, Any]:
        wanted = {"url": url, "kinds": list(kinds) or ["version.published"]}
        made = self.api.post("/v1/webhook-endpoints", json=wanted)
        assert made.status_code == 201, made.text
        return made.json()

    def announce(self, kind: str = "version.published", tenant: str = "local") -> None:
        self.server.announcer.announce(tenant, kind, {"corpus": "規約", "version": 2})

    def deliver(self, sender: CheckedSender | None = None) -> None:
        """One turn of the courier, to its end; in the middle of its range of chance."""

        async def work() -> None:
            courier = Courier(self.server, sender or webhook_sender(self.server), lambda: 0.5)
            await courier.turn()
            await courier.finish()

        anyio.run(work)

    def deliveries(self, endpoint: dict[str, Any]) -> list[dict[str, Any]]:
        return self.api.get(f"/v1/webhook-endpoints/{endpoint['endpoint_id']}/deliveries").json()["data"]

    def shown(self, endpoint: dict[str, Any]) -> dict[str, Any]:
        return self.api.get(f"/v1/webhook-endpoints/{endpoint['endpoint_id']}").json()


@pytest.fixture
def shop(tmp_path: Path) -> Shop:
    return Shop(tmp_path / "home")


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.mark.requirement("S-128")
def test_an_endpoint_is_made_shown_changed_and_removed(shop: Shop) -> None:
    """interfaces.md: webhook-endpoints; the secret is shown once."""
    made = shop.endpoint("http://127.0.0.1:1/a?token=x", "run.not_found", "feedback.negative")
    assert made["secret"].startswith("whsec_")
    place = f"/v1/webhook-endpoints/{made['endpoint_id']}"
    assert made["secret"] not in shop.api.get("/v1/webhook-endpoints").text + shop.api.get(place).text
    changed = shop.api.patch(place, json={"kinds": ["run.not_found"], "is_on": False}).json()
    assert (changed["kinds"], changed["off_reason"]) == (["run.not_found"], "operator")
    assert shop.api.patch(place, json={"is_on": True}).json()["is_on"] is True
    assert shop.api.delete(place).status_code == 200
    assert shop.api.get(place).status_code == 404
    actions = [event["action"] for event in shop.api.get("/v1/audit-events").json()["data"]]
    assert actions[:4] == ["webhook.removed", "webhook.changed", "webhook.changed", "webhook.created"]


@pytest.mark.requirement("S-128")
def test_a_secret_lies_sealed_and_is_sealed_anew_with_another_master_key(shop: Shop, tmp_path: Path) -> None:
    """Task: encrypted at rest, with the cipher of the providers' keys."""
    made = shop.endpoint("https://example.jp/hooks")
    state = b"".join(file.read_bytes() for file in (tmp_path / "home").glob("state.db*"))
    assert made["secret"].removeprefix("whsec_").encode() not in state
    before = shop.server.webhooks.held("local", made["endpoint_id"]).secret
    shop.server.vault.rotate(shop.server.sealed)
    after = shop.server.webhooks.held("local", made["endpoint_id"]).secret
    assert before.key != after.key
    opened = shop.server.vault.open(after, ("webhook-secret", "local", made["endpoint_id"]))
    assert opened == made["secret"]


@pytest.mark.requirement("S-129")
def test_what_is_announced_reaches_those_who_want_it_signed(shop: Shop, receiver: Receiver) -> None:
    """interfaces.md: Standard Webhooks: HMAC-SHA256 over id.timestamp.body."""
    made = shop.endpoint(receiver.url)
    shop.endpoint(receiver.url, "run.not_found")
    shop.announce()
    shop.announce("compilation.failed")
    shop.announce(tenant="acme")
    shop.deliver()
    (hook,) = receiver.hooks
    assert hook.message == {
        "type": "version.published",
        "timestamp": hook.message["timestamp"],
        "data": {"corpus": "規約", "version": 2},
    }
    assert hook.is_signed_with(made["secret"])
    assert not hook.is_signed_with(f"whsec_{'A' * 44}")
    assert hook.headers["webhook-timestamp"] == str(int(shop.clock.now().timestamp()))
    assert hook.headers["host"] == f"127.0.0.1:{receiver.port}"
    (delivery,) = shop.deliveries(made)
    assert (delivery["state"], delivery["message_id"]) == ("delivered", hook.headers["webhook-id"])
    assert [tried["status"] for tried in delivery["tries"]] == [204]
    shop.deliver()
    assert len(receiver.hooks) == 1


@pytest.mark.requirement("S-129")
def test_for_a_day_after_a_rotation_both_secrets_sign(shop: Shop, receiver: Receiver) -> None:
    """Task: rotation with both secrets signing for 24 h."""
    made = shop.endpoint(receiver.url)
    place = f"/v1/webhook-endpoints/{made['endpoint_id']}/rotate-secret"
    rotated = shop.api.post(place).json()
    for _ in range(2):
        shop.announce()
        shop.deliver()
        shop.clock.advance(DAY)
    within, after = receiver.hooks
    assert within.is_signed_with(made["secret"])
    assert within.is_signed_with(rotated["secret"])
    assert after.is_signed_with(rotated["secret"])
    assert not after.is_signed_with(made["secret"])


@pytest.mark.requirement("S-130")
def test_a_failed_message_is_tried_again_ever_more_rarely_for_a_day_then_given_up(
    shop: Shop, receiver: Receiver
) -> None:
    """Task: jittered backoff over about 24 h, then given up and shown; every try has the same id."""
    made, receiver.status = shop.endpoint(receiver.url), 500
    shop.announce()
    began = shop.clock.monotonic()
    waits = list[float]()
    while True:
        shop.deliver()
        (delivery,) = shop.deliveries(made)
        if delivery["state"] != "waiting":
            break
        shop.deliver()  # nothing is due yet
        seconds = _until(delivery["next_at"], shop.clock)
        waits.append(seconds)
        shop.clock.advance(seconds)
    assert delivery["state"] == "given_up"
    assert len(receiver.hooks) == len(delivery["tries"]) == len(waits) + 1 == 9
    assert waits == sorted(waits)
    assert 20 * 3600 < shop.clock.monotonic() - began < 28 * 3600
    assert {hook.headers["webhook-id"] for hook in receiver.hooks} == {delivery["message_id"]}
    assert shop.shown(made)["failing_since"] is not None


@pytest.mark.requirement("S-130")
def test_an_ended_delivery_is_sent_again_on_request(shop: Shop, receiver: Receiver) -> None:
    """interfaces.md: delivery list, resend."""
    made = shop.endpoint(receiver.url)
    shop.announce()
    shop.deliver()
    (delivery,) = shop.deliveries(made)
    place = f"/v1/webhook-endpoints/{made['endpoint_id']}/deliveries/{delivery['delivery_id']}"
    assert shop.api.post(f"{place}/resend").status_code == 202
    assert shop.api.post(f"{place}/resend").json()["code"] == "webhook_delivery_waits"
    shop.deliver()
    assert [hook.body.decode() for hook in receiver.hooks] == [shop.api.get(place).json()["body"]] * 2
    assert len({hook.headers["webhook-id"] for hook in receiver.hooks}) == 1


@pytest.mark.requirement("S-130")
def test_an_endpoint_that_fails_for_days_is_switched_off_and_it_is_said(
    shop: Shop, receiver: Receiver
) -> None:
    """Task: switched off and said; a success in between begins the days anew."""
    made, receiver.status = shop.endpoint(receiver.url), 503
    for day, status in ((0, 503), (2, 204), (4, 503), (6, 503), (8, 503)):
        receiver.status = status
        shop.clock.advance(day * DAY - shop.clock.monotonic())
        assert shop.shown(made)["is_on"], day
        shop.announce()
        shop.deliver()
    shown = shop.shown(made)
    assert (shown["is_on"], shown["off_reason"]) == (False, "failing")
    assert "waiting" not in {delivery["state"] for delivery in shop.deliveries(made)}
    said = shop.api.get("/v1/audit-events", params={"action": "webhook.switched_off"}).json()["data"]
    assert [event["object"] for event in said] == [made["endpoint_id"]]
    came = len(receiver.hooks)
    shop.announce()
    shop.deliver()
    assert len(receiver.hooks) == came
    on = shop.api.patch(f"/v1/webhook-endpoints/{made['endpoint_id']}", json={"is_on": True}).json()
    assert (on["is_on"], on["failing_since"]) == (True, None)


@pytest.mark.requirement("S-130")
def test_one_that_says_it_is_gone_is_switched_off_at_once(shop: Shop, receiver: Receiver) -> None:
    """Standard Webhooks: 410 ends it."""
    made, receiver.status = shop.endpoint(receiver.url), 410
    shop.announce()
    shop.deliver()
    assert shop.shown(made)["off_reason"] == "gone"
    assert [delivery["state"] for delivery in shop.deliveries(made)] == ["given_up"]


@pytest.mark.requirement("S-130")
def test_a_ping_tries_an_endpoint_once_whatever_it_listens_to(shop: Shop, receiver: Receiver) -> None:
    """Task: test ping."""
    made, receiver.status = shop.endpoint(receiver.url), 500
    shop.api.patch(f"/v1/webhook-endpoints/{made['endpoint_id']}", json={"is_on": False})
    sent = shop.api.post(f"/v1/webhook-endpoints/{made['endpoint_id']}/ping")
    assert sent.status_code == 202
    shop.deliver()
    shown = shop.api.get(sent.headers["location"]).json()
    assert (shown["state"], [tried["status"] for tried in shown["tries"]]) == ("given_up", [500])
    assert receiver.hooks[0].message["type"] == "ping"


@pytest.mark.requirement("S-131")
def test_a_redirect_is_a_failure_and_is_not_followed(shop: Shop, receiver: Receiver) -> None:
    """Task: no redirects: they would lead past the check of the address."""
    made, receiver.status = shop.endpoint(receiver.url), 307
    receiver.headers = {"Location": f"http://127.0.0.1:{receiver.port}/elsewhere"}
    shop.announce()
    shop.deliver()
    assert [hook.path for hook in receiver.hooks] == ["/hooks"]
    assert [tried["status"] for tried in shop.deliveries(made)[0]["tries"]] == [307]


@pytest.mark.requirement("S-131")
@pytest.mark.parametrize(
    ("is_hanging", "is_endless", "wanted"), [(True, False, (None, "timeout")), (False, True, (204, None))]
)
def test_who_hangs_or_never_ends_costs_seconds_only(
    shop: Shop, receiver: Receiver, is_hanging: bool, is_endless: bool, wanted: tuple[int | None, str | None]
) -> None:
    """Task: so many seconds for everything; the answer's body is not read."""
    made = shop.endpoint(receiver.url)
    receiver.is_hanging, receiver.is_endless = is_hanging, is_endless
    shop.announce()
    shop.deliver(CheckedSender((parsed_network("127.0.0.0/8"),), seconds=0.3 if is_hanging else 10))
    (tried,) = shop.deliveries(made)[0]["tries"]
    assert (tried["status"], tried["code"]) == wanted


@pytest.mark.requirement("S-131")
def test_a_slow_receiver_holds_up_no_other(shop: Shop, receiver: Receiver) -> None:
    """Task: fair; a receiver that waits is waited for beside the others."""
    with receiving() as slow:
        slow.is_hanging = True
        shop.endpoint(slow.url)
        quick = shop.endpoint(receiver.url)
        shop.announce()

        async def work() -> None:
            courier = Courier(shop.server, webhook_sender(shop.server))
            await courier.turn()
            while not receiver.hooks:  # noqa: ASYNC110 - it is filled by a thread
                await anyio.sleep(0.005)
            slow.released.set()
            await courier.finish()

        anyio.run(work)
        assert shop.deliveries(quick)[0]["state"] == "delivered"


@pytest.mark.requirement("S-132")
def test_a_name_that_leads_inside_is_not_connected_to() -> None:
    """Issue 6: webhook targets in private ranges; the address that is checked is the one connected to."""
    found = dict[str, str | None]()

    async def resolve(host: str) -> tuple[str, ...]:
        return _INSIDE[int(host.partition(".")[0])], "203.0.113.9"

    async def work() -> None:
        sender = CheckedSender((), resolve)
        for number, address in enumerate(_INSIDE):
            answer = await sender.send(f"https://{number}.rebind.example/hooks", {}, b"{}")
            found[address] = answer.code

    anyio.run(work)
    assert found == dict.fromkeys(_INSIDE, "refused_address")


@pytest.mark.requirement("S-132")
def test_the_name_is_asked_once_and_what_was_checked_is_called(receiver: Receiver) -> None:
    """Task: no DNS rebinding; Host stays the name's."""
    asked = list[str]()

    async def resolve(host: str) -> tuple[str, ...]:
        asked.append(host)
        return ("127.0.0.1",)

    async def work() -> int | None:
        sender = CheckedSender((parsed_network("127.0.0.1/32"),), resolve)
        return (await sender.send(f"http://hooks.example:{receiver.port}/a?b=1", {}, b"{}")).status

    assert anyio.run(work) == 204
    assert asked == ["hooks.example"]
    assert (receiver.hooks[0].headers["host"], receiver.hooks[0].path) == (
        f"hooks.example:{receiver.port}",
        "/a?b=1",
    )


@pytest.mark.requirement("S-132")
def test_an_unusable_url_is_refused_at_once(tmp_path: Path) -> None:
    """Task: https, http only when the operator allows."""
    shop = Shop(tmp_path / "home", ServerSettings())
    for url, code in _UNUSABLE:
        refused = shop.api.post("/v1/webhook-endpoints", json={"url": url, "kinds": ["run.not_found"]})
        assert (refused.status_code, refused.json()["code"]) == (422, code), url


def _until(moment: str, clock: FakeClock) -> float:
    return (datetime.fromisoformat(moment) - clock.now()).total_seconds()
