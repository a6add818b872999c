"""How the SDKs' HTTP client is set up: certificates, proxies, redirects."""

from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import TypedDict
from urllib.request import getproxies

import httpx2

from corpus2skill.adapters.llm.capped_body import ENCODINGS, cap_body
from corpus2skill.adapters.llm.connection import Connection, secrets_of, without_secrets
from corpus2skill.adapters.llm.endpoint import Endpoint
from corpus2skill.adapters.llm.failures import Target
from corpus2skill.adapters.llm.lanes import Lanes
from corpus2skill.adapters.llm.redaction import Redactor
from corpus2skill.domain.model_name import ModelName
from corpus2skill.errors import UnusableSettings

_CA_BUNDLES = ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""Honoured beside SSL_CERT_FILE and SSL_CERT_DIR, which win."""
_OTHER_SECRETS = ("AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AZURE_OPENAI_AD_TOKEN")
_LOOPBACK = ("all://localhost", "all://127.0.0.1", "all://[::1]")
_ANYWHERE = "all://"
"""What a proxy for one scheme, or a name that goes without one, is preferred to."""


class HttpOptions(TypedDict):
    """Arguments of both SDKs' default clients."""

    timeout: httpx2.Timeout
    verify: ssl.SSLContext
    follow_redirects: bool
    mounts: dict[str, httpx2.AsyncBaseTransport | None]
    headers: dict[str, str]
    event_hooks: dict[str, list[Callable[[httpx2.Response], Awaitable[None]]]]


def http_options(endpoint: Endpoint, environment: Mapping[str, str]) -> HttpOptions:
    """Return the options; the proxies of HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY come by themselves.

    A redirect is not followed: it would take the key to another host. A server on this machine is reached
    without a proxy.

    Raises:
        UnusableSettings: the CA bundle cannot be read.
    """
    verify = _verification(environment)
    return HttpOptions(
        timeout=endpoint.timeout_of_replies(),
        verify=verify,
        follow_redirects=False,
        mounts=dict.fromkeys(_unproxied(), Lanes(verify)),
        headers={"accept-encoding": ENCODINGS},
        event_hooks={"response": [cap_body]},
    )


_OWN_CREDENTIALS = frozenset({"bedrock", "vertex"})
"""Their SDKs find credentials of their own where no key is given."""


def endpoint_of(
    name: ModelName, connection: Connection, address: str, window: int, environment: Mapping[str, str]
) -> Endpoint:
    """Return the endpoint; `address` is what is really called."""
    secrets = [environment.get(variable, "") for variable in _OTHER_SECRETS]
    secrets += secrets_of(address)
    if connection.key is not None:
        secrets.append(connection.key.secret)
    return Endpoint(
        target=Target(
            model=str(name),
            endpoint=without_secrets(address),
            has_key=connection.key is not None or name.provider in _OWN_CREDENTIALS,
        ),
        redactor=Redactor(secrets),
        timeouts=connection.timeouts,
        window=window,
    )


def _unproxied() -> tuple[str, ...]:
    """What is reached without a proxy: this machine, and where ALL_PROXY names none, all that no other takes."""
    return _LOOPBACK if getproxies().get("all") else (*_LOOPBACK, _ANYWHERE)


def _verification(environment: Mapping[str, str]) -> ssl.SSLContext:
    if environment.get("SSL_CERT_FILE") or environment.get("SSL_CERT_DIR"):
        return _default_context(environment.get("SSL_CERT_FILE"), environment.get("SSL_CERT_DIR"))
    for variable in _CA_BUNDLES:
        if bundle := environment.get(variable):
            return _context_of(bundle, variable)
    return _default_context(None, None)


@lru_cache(maxsize=4)
def _default_context(cert_file: str | None, cert_dir: str | None) -> ssl.SSLContext:
    """Read the certificates once for all models: it takes longer than ten calls."""
    if cert_file or cert_dir:
        return _context_of(cert_file or cert_dir or "", "SSL_CERT_FILE" if cert_file else "SSL_CERT_DIR")
    return httpx2.create_ssl_context(trust_env=False)


def _context_of(path: str, variable: str) -> ssl.SSLContext:
    try:
        if variable == "SSL_CERT_DIR":
            return ssl.create_default_context(capath=path)
        return ssl.create_default_context(cafile=path)
    except OSError as error:  # ssl.SSLError is one
        reason = str(error)
    raise UnusableSettings("ca_bundle_unusable", variable=variable, file=path, reason=reason)
