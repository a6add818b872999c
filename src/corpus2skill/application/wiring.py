"""What knows both sides, with `model_wiring`: which adapter answers which port of the core.

Adapters are imported where they are used: a command that only reads a file does not load numpy.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from corpus2skill import __version__
from corpus2skill.adapters.clock import SystemClock, TimeSortedIds
from corpus2skill.adapters.store.version_files import FileVersionStore
from corpus2skill.compiler.pipeline import CompilerPorts
from corpus2skill.errors import InvalidInput
from corpus2skill.navigator.held_money import HeldMoney
from corpus2skill.navigator.turnstile import Turnstile
from corpus2skill.paying.month import MonthHold
from corpus2skill.paying.rate import KeyRate
from corpus2skill.ports.audit import AuditLog
from corpus2skill.ports.backups import HomeArchives
from corpus2skill.ports.batch_log import BatchLog
from corpus2skill.ports.clock import Clock, Ids
from corpus2skill.ports.extractor import Extractor
from corpus2skill.ports.grouper import Grouper, Neighbours
from corpus2skill.ports.keys import KeyRing
from corpus2skill.ports.proofs import RecordProofs
from corpus2skill.ports.result_store import ResultStore
from corpus2skill.ports.sources import SourceReader
from corpus2skill.ports.store import RecordStore
from corpus2skill.ports.summarizer import Summarizer
from corpus2skill.settings import SETTINGS_FILE, Settings, expanded

TENANT = "local"
"""Owner of everything in a workspace on one's own machine."""
EVALUATION_TENANT = "evaluation"
"""Runs of question packs are kept as records of their own, apart from people's conversations."""
TENANTS = (TENANT, EVALUATION_TENANT)


def evaluation_tenant(tenant: str) -> str:
    """Whose chain the runs of a tenant's questions are kept in, apart from people's conversations.

    No tenant can have such a name.
    """
    return EVALUATION_TENANT if tenant == TENANT else f"{tenant}/{EVALUATION_TENANT}"


OFFLINE = "offline"
"""Name of the offline engine as a model."""
ENGINES = (OFFLINE,)
KEY_VARIABLES = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY")
"""Environment variables that hold a customer's provider keys."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """An opened workspace: its settings and what lies in it."""

    path: Path
    settings: Settings
    versions: FileVersionStore
    clock: Clock
    ids: Ids
    held: HeldMoney = field(default_factory=HeldMoney)
    """What runs under way hold of the spending limits."""
    turnstile: Turnstile = field(default_factory=Turnstile)
    """Of the runs of this process."""
    rates: dict[str, KeyRate] = field(default_factory=dict[str, KeyRate])
    """Of rounds, by the provider's key and address."""
    tenant: str = TENANT
    """Whose workspace this is."""
    month_hold: MonthHold = field(default_factory=MonthHold)
    """What calls of compiles under way hold of the month's cap."""
    keys: KeyRing
    """Who pays for calls."""
    database_url: str | None = None
    """Of the PostgreSQL that holds records and paid results of all tenants; None: files in `path`."""

    def records(self) -> RecordStore:
        """The audit records; the database is opened when first asked for."""
        from corpus2skill.adapters.store.records import SqlRecordStore, records_url

        return SqlRecordStore(self.database_url or records_url(self.path), self.clock)

    def proofs(self) -> RecordProofs:
        """The same records as their chain has them."""
        from corpus2skill.adapters.store.records import SqlRecordStore, records_url

        return SqlRecordStore(self.database_url or records_url(self.path), self.clock)

    def results(self) -> ResultStore:
        """What paid calls answered; the database is opened when first needed."""
        from corpus2skill.adapters.store.results import SqlResultStore, results_url

        return SqlResultStore(self.database_url or results_url(self.path), self.tenant)

    def batches(self) -> BatchLog:
        """The batches under way, in the same database."""
        from corpus2skill.adapters.store.batch_log import SqlBatchLog
        from corpus2skill.adapters.store.results import results_url

        return SqlBatchLog(self.database_url or results_url(self.path), self.tenant)

    @contextmanager
    def audit(self, database_url: str | None) -> Generator[AuditLog]:
        """The operators' log for as long as the block lasts, in the server's database, which the first note makes."""
        from corpus2skill.adapters.store.state.audit import SqlAuditLog
        from corpus2skill.adapters.store.state.state_database import open_state, postgresql_url, state_url

        url = None if database_url is None else postgresql_url(database_url)
        state = open_state(state_url(self.path, url))
        try:
            yield SqlAuditLog(state, self.clock, self.ids)
        finally:
            state.close()

    def has_results(self) -> bool:
        """False before the first paid call; looking makes no database."""
        from corpus2skill.adapters.store.results import results_url

        return self.database_url is not None or Path(results_url(self.path).database or "").exists()

    def has_records(self) -> bool:
        """False before the first question; looking makes no database."""
        from corpus2skill.adapters.store.records import records_url

        return self.database_url is not None or Path(records_url(self.path).database or "").exists()


def open_workspace(
    path: Path,
    settings: Settings,
    *,
    tenant: str = TENANT,
    database_url: str | None = None,
    keys: KeyRing | None = None,
    month_hold: MonthHold | None = None,
) -> Workspace:
    """Open the workspace at `path`; nothing is created before something is written.

    `keys`: who pays for calls; by default whoever does on this machine.
    """
    clock = SystemClock()
    return Workspace(
        path=path,
        settings=settings,
        versions=FileVersionStore(path),
        clock=clock,
        ids=TimeSortedIds(clock),
        tenant=tenant,
        database_url=database_url,
        keys=own_keys(settings) if keys is None else keys,
        month_hold=month_hold or MonthHold(),
    )


def own_keys(settings: Settings) -> KeyRing:
    """The keys of this machine: in the environment, in the file that the settings name, in the keyring."""
    from corpus2skill.adapters.llm.keys import Keys

    file = None if settings.key_file is None else expanded(Path(settings.key_file))
    return Keys(os.environ, file)


def home_archives() -> HomeArchives:
    """What writes a home into one file, and reads it back."""
    from corpus2skill.adapters.store.archives import TarArchives

    return TarArchives()


def worker_place(home: Path) -> str:
    """The name of the place where the worker of a home is at work."""
    return f"{socket.gethostname()}:{home.absolute()}"


def leftovers(workspace: Workspace, corpus: str) -> int:
    """Folders that killed compiles left half written; the next compile of the corpus clears them."""
    from corpus2skill.adapters.store.compile_lock import STAGING

    return sum(1 for _ in (workspace.path / "corpora" / corpus / "versions").glob(f"{STAGING}*"))


def source_reader(workspace: Workspace, paths: Sequence[Path]) -> SourceReader:
    from corpus2skill.adapters.sources.folder import FolderSources

    return FolderSources(paths, exclude=workspace.path, max_bytes=workspace.settings.max_file_bytes)


def original_file(workspace: Workspace, paths: Sequence[Path], source: str) -> tuple[str, Path] | None:
    """Name and path of the file under `paths` that `source` is or lies in; None where it is there no longer."""
    from corpus2skill.adapters.sources.folder import FolderSources

    try:
        files = FolderSources(paths, exclude=workspace.path)
    except InvalidInput:  # one of the paths is gone, and names are told by all of them
        return None
    return files.file_of(source)


def extractor(settings: Settings) -> Extractor:
    from corpus2skill.adapters.extract.child_pool import ChildPool
    from corpus2skill.adapters.extract.extractors import Extractors
    from corpus2skill.adapters.extract.limits import Limits

    limits = Limits(max_characters=settings.max_characters, max_pages=settings.max_pages)
    return Extractors(limits, ChildPool(limits))


def offline_summarizer() -> Summarizer:
    from corpus2skill.adapters.offline.summarizer import OfflineSummarizer

    return OfflineSummarizer()


def offline_grouper() -> Grouper:
    from corpus2skill.adapters.offline.grouper import OfflineGrouper

    return OfflineGrouper()


def neighbours() -> Neighbours:
    """The order in which a model that sees a list in pieces is shown it."""
    from corpus2skill.adapters.offline.neighbours import lexical_neighbours

    return lexical_neighbours


def compiler_ports(
    workspace: Workspace, paths: Sequence[Path], summarizer: Summarizer, grouper: Grouper
) -> CompilerPorts:
    """Everything a compile with this summarizer and grouper needs."""
    from corpus2skill.adapters.offline.lexical_index import OfflineLexicalIndex

    return CompilerPorts(
        reader=source_reader(workspace, paths),
        extractor=extractor(workspace.settings),
        summarizer=summarizer,
        grouper=grouper,
        index_writer=OfflineLexicalIndex(),
        store=workspace.versions,
        clock=workspace.clock,
        product=__version__,
    )


def write_settings_file(workspace: Workspace, stored: dict[str, object]) -> None:
    """Replace `settings.toml` in one step.

    Raises:
        WorkspaceUnusable: the disk refused.
    """
    import tomli_w

    from corpus2skill.adapters.store.durable import replace_file, usable

    file = workspace.path / SETTINGS_FILE
    workspace.versions.prepare()
    with usable(file):
        replace_file(file, tomli_w.dumps(stored).encode("utf-8"))


def flat_ranking(workspace: Workspace, corpus: str, version: int) -> Callable[[str], tuple[str, ...]]:
    """What a question would read without a tree: the sources of as many leaves as a run has fetches."""
    from corpus2skill.adapters.offline.flat_ranking import FlatRanking
    from corpus2skill.adapters.offline.mapped_index import MappedIndex

    ranking = FlatRanking(MappedIndex(workspace.versions.lexical_folder(corpus, version)))

    def sources(question: str) -> tuple[str, ...]:
        paths = ranking.best(question, workspace.settings.fetch_limit)
        names = (path.rpartition("/")[2].removeprefix("doc_").removesuffix(".md") for path in paths)
        rows = (workspace.versions.chunk_row(corpus, version, name) for name in names)
        return tuple(row.source for row in rows if row is not None)

    return sources
