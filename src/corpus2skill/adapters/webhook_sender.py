"""Sends webhooks: to addresses that may be called, without redirects, within seconds."""

from __future__ import annotations

import asyncio
import re
import ssl
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import cast

import httpcore2

from corpus2skill.domain.webhook import Network, NoAnswer, WebhookAnswer, may_call

_SECONDS = 10.0
"""For everything: the name, the connection, the answer's head."""
_DIGITS = re.compile(r"[0-9]{1,6}")
Resolve = Callable[[str], Awaitable[tuple[str, ...]]]
"""From a host's name to its addresses. Raises OSError: it has none."""


class CheckedSender:
    """`ports.webhooks.WebhookSender` over HTTP/1.1.

    The address that is connected to is the one that was checked: a name that leads elsewhere a moment later
    changes nothing. Host, SNI and certificate are the name's. Proxies of the environment are passed by.
    """

    def __init__(
        self, networks: tuple[Network, ...], resolve: Resolve | None = None, seconds: float = _SECONDS
    ) -> None:
        """`networks` may be called although they are not public."""
        self._backend = _CheckedBackend(networks, resolve or _resolved)
        self._verify = ssl.create_default_context()
        self._seconds = seconds

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> WebhookAnswer:
        began = time.monotonic()
        status, code, retry_after = await self._tried(url, headers, body)
        ms = round((time.monotonic() - began) * 1000)
        return WebhookAnswer(status=status, code=code, ms=ms, retry_after=retry_after)

    async def _tried(
        self, url: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int | None, NoAnswer | None, float | None]:
        try:
            async with asyncio.timeout(self._seconds):
                return await self._posted(url, headers, body)
        except _Refused:
            return None, "refused_address", None
        except _Unresolved:
            return None, "unresolved", None
        except (TimeoutError, httpcore2.TimeoutException):
            return None, "timeout", None
        except httpcore2.ProtocolError:
            return None, "protocol", None
        except httpcore2.NetworkError as error:
            return None, "tls" if _is_of_tls(error) else "unreachable", None
        except (OSError, ValueError, httpcore2.UnsupportedProtocol):
            return None, "unreachable", None

    async def _posted(
        self, url: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, None, float | None]:
        """The answer's body is never read: nothing of it matters, and it may have no end."""
        wait = dict.fromkeys(("connect", "read", "write", "pool"), self._seconds)
        async with (
            httpcore2.AsyncConnectionPool(ssl_context=self._verify, network_backend=self._backend) as pool,
            pool.stream(
                "POST",
                url,
                headers=_with_host(url, headers, body),
                content=body,
                extensions={"timeout": wait},
            ) as response,
        ):
            return response.status, None, _retry_after(response.headers)


class _Refused(Exception):
    """The name leads to an address that may not be called."""


class _Unresolved(Exception):
    """The name leads nowhere."""


class _CheckedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to nothing but what was checked."""

    def __init__(self, networks: tuple[Network, ...], resolve: Resolve) -> None:
        self._networks = networks
        self._resolve = resolve
        self._plain = cast("httpcore2.AsyncNetworkBackend", httpcore2.AnyIOBackend())

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's signature
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        try:
            addresses = await self._resolve(host)
        except (OSError, UnicodeError) as error:
            raise _Unresolved from error
        if not addresses:
            raise _Unresolved
        if not all(may_call(address, self._networks) for address in addresses):
            raise _Refused
        return await self._plain.connect_tcp(addresses[0], port, timeout, local_address, socket_options)

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,  # noqa: ASYNC109 - the library's signature
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        raise _Refused

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


async def _resolved(host: str) -> tuple[str, ...]:
    found = await asyncio.get_running_loop().getaddrinfo(host, None, type=1)
    return tuple(dict.fromkeys(str(address[0]) for *_, address in found))


def _with_host(url: str, headers: Mapping[str, str], body: bytes) -> list[tuple[str, str]]:
    host = url.partition("//")[2].partition("/")[0].partition("?")[0]
    return [("host", host), *headers.items(), ("content-length", str(len(body))), ("connection", "close")]


def _retry_after(headers: list[tuple[bytes, bytes]]) -> float | None:
    for name, value in headers:
        if name.lower() == b"retry-after":
            text = value.decode("latin-1").strip()
            return float(text) if _DIGITS.fullmatch(text) else None
    return None


def _is_of_tls(error: BaseException) -> bool:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, ssl.SSLError):
            return True
        cause = cause.__cause__ or cause.__context__
    return False
