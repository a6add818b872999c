"""People of a server under test, and browsers in which they are signed in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from starlette.testclient import TestClient

from corpus2skill.adapters.argon2_passwords import Argon2Passwords
from corpus2skill.application.server.links import invite, sign_in_link
from corpus2skill.application.server.members import member_named, newcomer
from corpus2skill.application.server.passwords import add_person
from corpus2skill.application.server_wiring import Server, open_server
from corpus2skill.domain.people import Role
from corpus2skill.entrypoints.http.app import create_app
from corpus2skill.settings import ServerSettings
from tests.fakes.clock import FakeClock

PASSWORD = "correct horse 電池"
FROM_OURS = {"Sec-Fetch-Site": "same-origin"}


class Town:
    """A server whose clock a test moves, with passwords that are quick to check."""

    def __init__(self, home: Path, settings: ServerSettings = ServerSettings()) -> None:
        self.clock = FakeClock()
        opened = open_server(home, settings)
        self.server: Server = replace(
            opened, clock=self.clock, passwords=Argon2Passwords(memory_kib=8, passes=1)
        )
        self.app = create_app(self.server)

    def browser(self, base_url: str = "http://localhost") -> TestClient:
        """One that says, as browsers do, that its requests come from our pages, and keeps cookies."""
        return TestClient(
            self.app,
            base_url=base_url,
            headers=FROM_OURS,
            follow_redirects=False,
            raise_server_exceptions=False,
        )

    def person(self, name: str, role: Role = "viewer", tenant: str = "local") -> str:
        """Add somebody with `PASSWORD` and return their id."""
        member = newcomer(self.server, tenant, name, role)
        add_person(self.server, member, PASSWORD, "test")
        return member.person.person

    def signed_in(self, name: str, tenant: str = "local") -> TestClient:
        """A browser of somebody."""
        _, path = sign_in_link(self.server, member_named(self.server, tenant, name), "test")
        browser = self.browser()
        entered = browser.post("/sign-in/link", data={"code": path.partition("code=")[2]})
        assert entered.status_code == 303
        return browser

    def invitation(self, name: str = "佐藤", role: Role = "editor", tenant: str = "local") -> str:
        """The path of a new invitation."""
        return invite(self.server, tenant, name, role, "test")[1]
