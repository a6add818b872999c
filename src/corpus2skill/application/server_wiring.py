"""The wiring of the server: the third room, beside `wiring` and `model_wiring`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from corpus2skill.adapters.clock import SystemClock, TimeSortedIds
from corpus2skill.application.wiring import TENANT, Workspace, open_workspace
from corpus2skill.ports.announcements import Announcer
from corpus2skill.ports.api_tokens import TokenStore
from corpus2skill.ports.audit import AuditLog
from corpus2skill.ports.clock import Clock, Ids
from corpus2skill.ports.event_log import EventLog
from corpus2skill.settings import ServerSettings, Settings, load_settings


@dataclass(frozen=True, kw_only=True)
class Server:
    """What every door of the server works with; one a process. Any thread may use it."""

    home: Path
    """The workspace of the embedded default, and the folder in which the other tenants have theirs."""
    settings: Settings
    server_settings: ServerSettings
    clock: Clock
    ids: Ids
    tokens: TokenStore
    audit: AuditLog
    events: EventLog
    announcer: Announcer

    def workspace(self, tenant: str) -> Workspace:
        """The workspace of a tenant: the server's own folder for the local one, else a folder in it.

        Not to be kept: what a tenant sets is read when it is opened.
        """
        if tenant == TENANT:
            return open_workspace(self.home, self.settings)
        return open_workspace(self.home / "tenants" / tenant, self.settings)


def open_server(home: Path, server_settings: ServerSettings) -> Server:
    """Open the server's state at `home`; the database is made when something is first written."""
    from corpus2skill.adapters.store.state.announcements import SqlAnnouncer
    from corpus2skill.adapters.store.state.api_tokens import SqlTokenStore
    from corpus2skill.adapters.store.state.audit import SqlAuditLog
    from corpus2skill.adapters.store.state.event_log import SqlEventLog
    from corpus2skill.adapters.store.state.state_database import open_state, state_url

    clock = SystemClock()
    ids = TimeSortedIds(clock)
    state = open_state(state_url(home, server_settings.database_url))
    return Server(
        home=home,
        settings=load_settings(home),
        server_settings=server_settings,
        clock=clock,
        ids=ids,
        tokens=SqlTokenStore(state),
        audit=SqlAuditLog(state, clock, ids),
        events=SqlEventLog(state, clock),
        announcer=SqlAnnouncer(state, clock, ids),
    )
