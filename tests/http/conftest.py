"""A server in a folder of its own, and clients that are signed in to it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from corpus2skill.application.server.sign_in import new_token
from corpus2skill.application.server_wiring import Server, open_server
from corpus2skill.application.wiring import TENANT
from corpus2skill.domain.people import SCOPES, Scope
from corpus2skill.entrypoints.http.app import create_app
from corpus2skill.settings import ServerSettings

ClientOf = Callable[..., TestClient]


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return open_server(tmp_path / "home", ServerSettings())


@pytest.fixture
def client_of(server: Server) -> Iterator[ClientOf]:
    """Makes a client of a tenant whose token has these scopes: `client_of("acme", "read", "ask")`."""
    app = create_app(server)
    opened: list[TestClient] = []

    def client(tenant: str = TENANT, *scopes: Scope) -> TestClient:
        _, secret = new_token(server, tenant, server.ids.new("name"), scopes or SCOPES, "test")
        made = TestClient(
            app,
            base_url="http://localhost",
            headers={"Authorization": f"Bearer {secret}"},
            raise_server_exceptions=False,
        )
        opened.append(made.__enter__())
        return made

    yield client
    for made in opened:
        made.__exit__(None, None, None)


@pytest.fixture
def api(client_of: ClientOf) -> TestClient:
    """A client of the local tenant that may do everything."""
    return client_of()
