"""Which addresses the server calls for a customer."""

from __future__ import annotations

import pytest

from corpus2skill.domain.net_addresses import check_public, host_of, is_public
from corpus2skill.errors import ModelUnavailable, UnusableSettings


@pytest.mark.requirement("S-104")
@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_the_internets_addresses_may_be_called(address: str) -> None:
    """Providers are there."""
    assert is_public(address)


@pytest.mark.requirement("S-104")
@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.0.0.1",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1%eth0",
        "fc00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "2002:7f00:1::",
        "64:ff9b::7f00:1",
        "nonsense",
    ],
)
def test_private_ones_may_not_in_whatever_form(address: str) -> None:
    """Server-side request forgery."""
    assert not is_public(address)


@pytest.mark.requirement("S-104")
def test_all_addresses_of_a_name_must_be_public() -> None:
    """One that leads home among others is enough."""
    check_public("https://llm.example.jp/v1", lambda _host: ("8.8.8.8", "2606:4700::1111"))
    with pytest.raises(UnusableSettings, match="endpoint_private"):
        check_public("https://llm.example.jp/v1", lambda _host: ("8.8.8.8", "10.0.0.1"))


def test_a_name_that_cannot_be_resolved_now_may_be_later() -> None:
    """A job stalls and is tried again; nothing is called unseen."""

    def unknown(_host: str) -> tuple[str, ...]:
        raise OSError("no such host")

    with pytest.raises(ModelUnavailable, match="host_unresolved"):
        check_public("https://llm.example.jp", unknown)


@pytest.mark.parametrize(
    "url", ["", "llm.example.jp", "file:///etc/passwd", "http://", "http://a b/", "http://h:x/"]
)
def test_what_is_no_address_of_a_web_server_is_refused(url: str) -> None:
    """Bad input."""
    with pytest.raises(UnusableSettings, match="endpoint_unusable"):
        host_of(url)
