"""The wiring of the server: the third room, beside `wiring` and `model_wiring`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from corpus2skill import __version__
from corpus2skill.adapters.clock import SystemClock, TimeSortedIds
from corpus2skill.application.server.event_hub import HeardEventLog
from corpus2skill.application.server.tenant_keys import TenantKeys
from corpus2skill.application.server.tries import Tries
from corpus2skill.application.server.vault import Vault
from corpus2skill.application.wiring import (
    TENANT,
    Workspace,
    extractor,
    open_workspace,
    own_keys,
    source_reader,
    worker_place,
)
from corpus2skill.domain.webhook import parsed_network
from corpus2skill.paying.month import MonthHold
from corpus2skill.ports.announcements import Announcer
from corpus2skill.ports.apart import Apart
from corpus2skill.ports.api_tokens import TokenStore
from corpus2skill.ports.audit import AuditLog
from corpus2skill.ports.ciphers import MasterKeys
from corpus2skill.ports.clock import Clock, Ids
from corpus2skill.ports.credentials import CredentialStore, SealedThings
from corpus2skill.ports.documents import CorpusStore, UploadStore
from corpus2skill.ports.exams import ExamStore, QuestionStore
from corpus2skill.ports.extractor import Extractor
from corpus2skill.ports.hosted import HostedStore
from corpus2skill.ports.job_engine import JobEngine
from corpus2skill.ports.jobs import JobStore
from corpus2skill.ports.kept_answers import KeptAnswers
from corpus2skill.ports.keys import KeyRing
from corpus2skill.ports.measures import Measures
from corpus2skill.ports.passwords import PasswordHasher
from corpus2skill.ports.people import PeopleStore, TenantStore
from corpus2skill.ports.retention import RetentionStore
from corpus2skill.ports.reviews import BranchVisits, ReviewStore
from corpus2skill.ports.sign_ins import LinkStore, WebSessionStore
from corpus2skill.ports.sources import SourceReader
from corpus2skill.ports.tenant_settings import TenantSettingsStore
from corpus2skill.ports.texts import TextStore
from corpus2skill.ports.traces import Traces
from corpus2skill.ports.uploads import UploadFiles
from corpus2skill.ports.webhooks import WebhookSender, WebhookStore
from corpus2skill.ports.workers import Presence, WorkerStore
from corpus2skill.settings import ServerSettings, Settings, expanded, laid_over, load_settings


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
    hosted: HostedStore
    announcer: Announcer
    webhooks: WebhookStore
    retention: RetentionStore
    kept_answers: KeptAnswers
    measures: Measures
    traces: Traces
    check_database: Callable[[], None]
    """Raises: WorkspaceUnusable: the database of the state cannot be reached."""
    state_pulse: Callable[[], tuple[int, int] | None]
    """Costs next to nothing: another value where the state was written to meanwhile, None where nobody can tell."""
    corpora: CorpusStore
    uploads: UploadStore
    jobs: JobStore
    workers: WorkerStore
    questions: QuestionStore
    exams: ExamStore
    reviews: ReviewStore
    branch_visits: BranchVisits
    tenants: TenantStore
    people: PeopleStore
    links: LinkStore
    web_sessions: WebSessionStore
    credentials: CredentialStore
    sealed: tuple[SealedThings, ...]
    """All that is sealed with the master key."""
    vault: Vault
    tenant_settings: TenantSettingsStore
    passwords: PasswordHasher
    apart: Apart
    """Does what grows with a corpus, in the HTTP process beside it."""
    tries: Tries = field(default_factory=Tries)
    """Of passwords, in this process."""
    live: dict[tuple[str, str], tuple[int, Mapping[str, str | None]]] = field(default_factory=dict)
    """By tenant and corpus: a version that was active, and its sources with their SHA-256."""

    month_holds: dict[str, MonthHold] = field(default_factory=dict[str, MonthHold])
    """By tenant: what the compiles of this process hold of its month's cap."""

    def workspace(self, tenant: str) -> Workspace:
        """The workspace of a tenant: the server's own folder for the local one, else a folder in it.

        Not to be kept: what a tenant sets is read when it is opened.
        """
        path = self.home if tenant == TENANT else self.home / "tenants" / tenant
        url = self.server_settings.database_url
        return open_workspace(
            path,
            self._settings_of(tenant),
            tenant=tenant,
            database_url=url,
            keys=self.keys(tenant),
            month_hold=self.month_holds.setdefault(tenant, MonthHold()),
        )

    def keys(self, tenant: str) -> KeyRing:
        """Who pays for a tenant's calls: its own keys, and on one's own machine what lies there."""
        from corpus2skill.adapters.resolver import system_resolver

        is_ours = tenant == TENANT and self.server_settings.is_embedded
        allowed = self.server_settings.allow_private_endpoints
        return TenantKeys(
            tenant=tenant,
            store=self.credentials,
            vault=self.vault,
            clock=self.clock,
            resolve=system_resolver,
            environment=os.environ,
            fallback=own_keys(self.settings) if is_ours else None,
            may_be_private=is_ours if allowed is None else allowed,
        )

    def __reduce__(self) -> tuple[object, ...]:
        """Another process opens it for itself, once."""
        return _opened_there, (self.home, self.server_settings)

    def _settings_of(self, tenant: str) -> Settings:
        """The server's with the tenant's own over them. The operator's key file and address are not for tenants."""
        settings = laid_over(self.settings, self.tenant_settings.settings(tenant).values)
        if tenant == TENANT and self.server_settings.is_embedded:
            return settings
        return replace(settings, base_url=None, key_file=None)


def checked_database_url(url: str | None) -> str | None:
    """The URL as the adapters take it; None stays None.

    Raises:
        UnusableSettings: it is no URL of a PostgreSQL database.
    """
    from corpus2skill.adapters.store.state.state_database import postgresql_url

    return None if url is None else postgresql_url(url)


def hold_server(home: Path, server_settings: ServerSettings, address: str) -> AbstractContextManager[None]:
    """Keep other servers from the same home and database for as long as the block lasts.

    `address`: where the server will be found.

    Raises:
        Busy: one is at work there.
    """
    from corpus2skill.adapters.store.server_lock import one_server

    return one_server(home, server_settings.database_url, address)


def address_served(home: Path) -> str | None:
    """Return where the server that is running on the home is found; None where none is."""
    from corpus2skill.adapters.store.server_lock import address_served as found

    return found(home)


def open_server(home: Path, server_settings: ServerSettings, *, has_children: bool = False) -> Server:
    """Open the server's state at `home`; the database is made when something is first written.

    `has_children`: what would hold up everybody is done in child processes, until `apart` is closed.
    """
    from corpus2skill.adapters.apart.children import Children
    from corpus2skill.adapters.apart.here import Here
    from corpus2skill.adapters.argon2_passwords import Argon2Passwords
    from corpus2skill.adapters.measures import PrometheusMeasures
    from corpus2skill.adapters.store.state.announcements import SqlAnnouncer
    from corpus2skill.adapters.store.state.api_tokens import SqlTokenStore
    from corpus2skill.adapters.store.state.audit import SqlAuditLog
    from corpus2skill.adapters.store.state.branch_visits import SqlBranchVisits
    from corpus2skill.adapters.store.state.corpora import SqlCorpusStore
    from corpus2skill.adapters.store.state.credentials import SqlCredentialStore, SqlMasterKeyRecord
    from corpus2skill.adapters.store.state.documents import SqlUploadStore
    from corpus2skill.adapters.store.state.event_log import SqlEventLog
    from corpus2skill.adapters.store.state.exam_questions import SqlQuestionStore
    from corpus2skill.adapters.store.state.exams import SqlExamStore
    from corpus2skill.adapters.store.state.hosted import SqlHostedStore
    from corpus2skill.adapters.store.state.jobs import SqlJobStore
    from corpus2skill.adapters.store.state.kept_answers import SqlKeptAnswers
    from corpus2skill.adapters.store.state.links import SqlLinkStore
    from corpus2skill.adapters.store.state.people import SqlPeopleStore
    from corpus2skill.adapters.store.state.retention import SqlRetentionStore
    from corpus2skill.adapters.store.state.reviews import SqlReviewStore
    from corpus2skill.adapters.store.state.state_database import open_state, state_url
    from corpus2skill.adapters.store.state.tenant_settings import SqlTenantSettings
    from corpus2skill.adapters.store.state.tenants import SqlTenantStore
    from corpus2skill.adapters.store.state.web_sessions import SqlWebSessionStore
    from corpus2skill.adapters.store.state.webhooks import SqlWebhookStore
    from corpus2skill.adapters.store.state.workers import SqlWorkerStore
    from corpus2skill.adapters.telemetry import open_traces

    clock = SystemClock()
    ids = TimeSortedIds(clock)
    state = open_state(state_url(home, server_settings.database_url))
    credentials = SqlCredentialStore(state)
    webhooks = SqlWebhookStore(state)
    return Server(
        home=home,
        settings=load_settings(home),
        server_settings=server_settings,
        clock=clock,
        ids=ids,
        tokens=SqlTokenStore(state),
        audit=SqlAuditLog(state, clock, ids),
        events=HeardEventLog(SqlEventLog(state, clock)),
        hosted=SqlHostedStore(state),
        announcer=SqlAnnouncer(state, clock, ids),
        webhooks=webhooks,
        retention=SqlRetentionStore(state),
        kept_answers=SqlKeptAnswers(state),
        measures=PrometheusMeasures(),
        traces=open_traces(os.environ),
        check_database=state.check,
        state_pulse=state.pulse,
        corpora=SqlCorpusStore(state),
        uploads=SqlUploadStore(state),
        tenants=SqlTenantStore(state),
        people=SqlPeopleStore(state),
        links=SqlLinkStore(state),
        web_sessions=SqlWebSessionStore(state),
        credentials=credentials,
        sealed=(credentials, webhooks),
        vault=Vault(_master_keys(home, server_settings), SqlMasterKeyRecord(state)),
        tenant_settings=SqlTenantSettings(state),
        passwords=Argon2Passwords(),
        apart=Children() if has_children else Here(),
        jobs=SqlJobStore(state),
        workers=SqlWorkerStore(state),
        questions=SqlQuestionStore(state),
        exams=SqlExamStore(state),
        reviews=SqlReviewStore(state),
        branch_visits=SqlBranchVisits(state),
    )


@cache
def _opened_there(home: Path, server_settings: ServerSettings) -> Server:
    return open_server(home, server_settings)


def new_master_key() -> str:
    """A key for the environment or a file."""
    from corpus2skill.adapters.keys.ciphers import new_master_key as made

    return made()


def _master_keys(home: Path, server_settings: ServerSettings) -> MasterKeys:
    """The variable, the file that was named, or the embedded default's own."""
    from corpus2skill.adapters.keys.master_keys import FILE_NAME, VARIABLE, FileKeys, NoKeys, VariableKeys

    if os.environ.get(VARIABLE):
        return VariableKeys(os.environ)
    if server_settings.master_key_file is not None:
        return FileKeys(expanded(Path(server_settings.master_key_file)), is_own=False)
    return FileKeys(home / FILE_NAME, is_own=True) if server_settings.is_embedded else NoKeys()


def webhook_sender(server: Server) -> WebhookSender:
    """What sends webhooks, to addresses that the operator lets it call."""
    from corpus2skill.adapters.webhook_sender import CheckedSender

    return CheckedSender(tuple(map(parsed_network, server.server_settings.webhook_networks)))


def upload_files(server: Server, tenant: str) -> UploadFiles:
    """Where the bytes of a tenant's uploads lie."""
    from corpus2skill.adapters.store.uploads import FolderUploads

    return FolderUploads(server.workspace(tenant).path)


def draw_page(pdf: Path, label: str, passage: str, *, width: int) -> bytes:
    """The page of that label of a PDF as PNG with a passage marked.

    Raises:
        Conflict: it cannot be drawn.
    """
    from corpus2skill.adapters.extract.page_picture import page_picture

    return page_picture(pdf, label, passage, width=width)


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


def open_job_engine(server: Server, executor: str) -> JobEngine:
    """The engine that carries out jobs; one a process, and only in a worker."""
    from corpus2skill.adapters.jobs.dbos_engine import DbosEngine, EngineAddress
    from corpus2skill.adapters.store.state.state_database import engine_url

    url = engine_url(server.home, server.server_settings.database_url)
    return DbosEngine(EngineAddress(url=url, executor=executor, release=__version__))


def worker_presence(server: Server) -> tuple[Presence, str]:
    """What says that the worker of this folder lives, and the name of its place."""
    from corpus2skill.adapters.store.state.presence import HomePresence, PostgresPresence
    from corpus2skill.adapters.store.state.state_database import state_url

    place = worker_place(server.home)
    at_home = HomePresence(server.home, place)
    database_url = server.server_settings.database_url
    if database_url is None:
        return at_home, place
    return PostgresPresence(state_url(server.home, database_url), at_home), place
