"""The wiring of the server: the third room, beside `wiring` and `model_wiring`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from corpus2skill.adapters.clock import SystemClock, TimeSortedIds
from corpus2skill.application.server.event_hub import HeardEventLog
from corpus2skill.application.wiring import TENANT, Workspace, extractor, open_workspace, source_reader
from corpus2skill.ports.announcements import Announcer
from corpus2skill.ports.api_tokens import TokenStore
from corpus2skill.ports.audit import AuditLog
from corpus2skill.ports.clock import Clock, Ids
from corpus2skill.ports.documents import CorpusStore, UploadStore
from corpus2skill.ports.extractor import Extractor
from corpus2skill.ports.sources import SourceReader
from corpus2skill.ports.texts import TextStore
from corpus2skill.ports.uploads import UploadFiles
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
    events: HeardEventLog
    announcer: Announcer
    corpora: CorpusStore
    uploads: UploadStore

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
    from corpus2skill.adapters.store.state.corpora import SqlCorpusStore
    from corpus2skill.adapters.store.state.documents import SqlUploadStore
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
        events=HeardEventLog(SqlEventLog(state, clock)),
        announcer=SqlAnnouncer(state, clock, ids),
        corpora=SqlCorpusStore(state),
        uploads=SqlUploadStore(state),
    )


def upload_files(server: Server, tenant: str) -> UploadFiles:
    """Where the bytes of a tenant's uploads lie."""
    from corpus2skill.adapters.store.uploads import FolderUploads

    return FolderUploads(server.workspace(tenant).path)


def upload_texts(server: Server, tenant: str) -> TextStore:
    """The texts that were read out of a tenant's uploads."""
    from corpus2skill.adapters.store.texts import FolderTexts

    workspace = server.workspace(tenant)
    limits = (workspace.settings.max_characters, workspace.settings.max_pages)
    return FolderTexts(workspace.path, repr(limits))


def caching_extractor(server: Server, tenant: str, reading: Extractor, *, is_keeping: bool) -> Extractor:
    """`reading`, asked only for what no one has read yet; what it reads is kept where `is_keeping`."""
    from corpus2skill.adapters.store.texts import CachedExtractor

    return CachedExtractor(reading, upload_texts(server, tenant), is_keeping=is_keeping)


def cached_extractor(server: Server, tenant: str) -> Extractor:
    """The extractor of a compile: what the uploads were judged by is not read again."""
    reading = extractor(server.workspace(tenant).settings)
    return caching_extractor(server, tenant, reading, is_keeping=False)


def uploaded_sources(server: Server, tenant: str, corpus: str) -> SourceReader:
    """The documents of a corpus: what was handed in, and what lies under the paths that it remembers.

    Raises:
        InvalidInput: a remembered path is gone.
    """
    from corpus2skill.adapters.sources.uploads import UploadedSources

    workspace = server.workspace(tenant)
    paths = [Path(path) for path in workspace.versions.config(corpus).paths]
    return UploadedSources(
        lambda: server.uploads.names(tenant, corpus),
        upload_files(server, tenant).read,
        source_reader(workspace, paths) if paths else None,
        max_bytes=workspace.settings.max_file_bytes,
    )
