"""A paying workspace: the command line, its documents, and a fake provider whose every call is counted."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import sqlite3
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from multiprocessing.context import ForkServerContext, ForkServerProcess
from pathlib import Path
from typing import Any, Literal

import pytest

from corpus2skill.entrypoints.cli.app import run
from tests.e2e.command_line import CommandLine, Ran, write_documents
from tests.fakes.providers import KEY, ProviderServer, anthropic_server, openai_server
from tests.fakes.providers.calls import Call
from tests.fakes.providers.hosting import in_thread
from tests.fakes.providers.wire import items, obj

Provider = Literal["anthropic", "openai"]
PROVIDERS: tuple[Provider, ...] = ("anthropic", "openai")
INPUT_PRICE, OUTPUT_PRICE = 1.0, 5.0
"""US dollars for a million tokens: no list knows a server on loopback."""
_PRICED = (
    "anthropic:claude-haiku-5-5",
    "anthropic:claude-sonnet-5-5",
    "openai:gpt-6-luna",
    "openai:gpt-6.1-terra",
)
"""The providers' models by default: a compile uses two of them."""
PRICE_VARIABLES = ("CORPUS2SKILL_PRICES", "CORPUS2SKILL_INPUT_PRICE", "CORPUS2SKILL_OUTPUT_PRICE")
WINDOW = 200_000
_SERVERS = {"anthropic": anthropic_server, "openai": openai_server}
_READ_BEFORE = (
    "tests.e2e.paid",
    "anthropic.resources",
    "openai.resources.chat",
    "httpcore2",
    "truststore",
    "anyio._backends._asyncio",
    "genai_prices.data",
    "genai_prices.data_snapshot",
    "sqlalchemy.dialects.sqlite",
    "chardet.detector",
    "corpus2skill.application.compile_documents",
    "corpus2skill.adapters.offline.grouper",
    "corpus2skill.adapters.offline.summarizer",
    "corpus2skill.adapters.extract.extractors",
)
"""What takes long to import: read once by the process that the others are forked from."""
_TOPICS = ("解約", "料金", "出張", "休暇", "備品", "採用", "研修", "保守", "契約", "請求")


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """One workspace that pays one provider."""

    provider: Provider
    server: ProviderServer
    cli: CommandLine
    documents: Path

    def compile(self, *more: str | Path, model: str | None = None) -> Ran:
        """Compile the documents with the provider's default models, in this process."""
        return self.cli("compile", self.documents, "--model", model or self.provider, *more)

    def paid(self, *more: str | Path, model: str | None = None) -> Ran:
        """The same, agreed to beforehand."""
        return self.compile("--yes", *more, model=model)

    def elsewhere(self, name: str) -> Shop:
        """The same provider and documents in a workspace of another name."""
        return replace(self, cli=CommandLine(workspace=self.cli.workspace.with_name(name)))

    @property
    def calls(self) -> list[Call]:
        return self.server.calls.model_calls

    @property
    def answered(self) -> list[Call]:
        return self.server.calls.answered

    def purposes(self) -> dict[str, int]:
        """How often each of a compile's purposes was asked about; calls that failed are not counted."""
        return dict(Counter(purpose_of(call) for call in self.answered))

    def tree_folder(self, version: int = 1, corpus: str = "default") -> Path:
        return self.cli.workspace / "corpora" / corpus / "versions" / str(version)

    def files(self, version: int = 1, corpus: str = "default") -> dict[str, bytes]:
        """Every file of a version; its manifest without when it was written, what it cost, and its own hash."""
        folder = self.tree_folder(version, corpus)
        found = {str(path.relative_to(folder)): path.read_bytes() for path in _files_below(folder)}
        manifest = json.loads(found["manifest.json"])
        for name in ("created_at", "spending", "sha256"):
            manifest.pop(name)
        return {**found, "manifest.json": json.dumps(manifest, sort_keys=True).encode()}

    def nodes(self, version: int, corpus: str = "default") -> dict[str, bytes]:
        """The node files of a version by path."""
        return {
            name: content
            for name, content in self.files(version, corpus).items()
            if name.startswith("tree/") and name.endswith(".md")
        }

    def active(self, corpus: str = "default") -> int | None:
        """The live version; None where there is none yet."""
        pointer = self.cli.workspace / "corpora" / corpus / "active"
        if not pointer.exists():
            return None
        listed = self.cli("versions", "--corpus", corpus, "--json").json["versions"]
        return next((int(line["version"]) for line in listed if line["is_active"]), None)

    def results(self) -> int:
        """How many paid replies are kept; none where it was killed before the store was made."""
        file = self.cli.workspace / "results.db"
        if not file.exists():
            return 0
        with sqlite3.connect(file) as database:
            tables = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'results'").fetchall()
            (count,) = database.execute("SELECT count(*) FROM results").fetchone() if tables else (0,)
        return int(count)

    def is_sound(self) -> bool:
        """`check` finds nothing, and every chunk is exactly one leaf."""
        checked = self.cli("check", "--json")
        version = self.active()
        assert version is not None
        folder = self.tree_folder(version)
        leaves = sorted(path.stem for path in (folder / "tree").rglob("doc_*.md"))
        rows = (folder / "chunks.jsonl").read_text(encoding="utf-8").splitlines()
        wanted = sorted(f"doc_{json.loads(row)['chunk_id']}" for row in rows)
        return checked.code == 0 and checked.json["faults"] == [] and leaves == wanted

    def begin(self, *more: str | Path, terminal: str = os.devnull, file_limit: int | None = None) -> Running:
        """Begin a compile in a process of its own, forked from one that has read all modules before.

        `terminal` is what its three streams are, `file_limit` the bytes that a file of it may have.
        """
        compiling = ["compile", str(self.documents), "--model", self.provider]
        arguments = [*compiling, *map(str, more), "--workspace", str(self.cli.workspace)]
        start = _Start(arguments=arguments, environment=dict(os.environ), terminal=terminal, limit=file_limit)
        process = _forking().Process(target=_run_apart, args=(start,))
        process.start()
        return Running(process=process)


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A command line in a process of its own."""

    process: ForkServerProcess

    def signal(self, sign: signal.Signals) -> None:
        if self.process.pid is not None:
            os.kill(self.process.pid, sign)

    def end(self) -> int | None:
        """Wait for its end; the exit code, below 0 where a signal ended it."""
        self.process.join(60)
        return self.process.exitcode


@contextmanager
def opened(
    provider: Provider, home: Path, documents: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Shop]:
    """A shop with its server up and the environment set for it."""
    server = _SERVERS[provider]()
    with in_thread(server):
        serve(server, provider, monkeypatch)
        yield Shop(
            provider=provider,
            server=server,
            cli=CommandLine(workspace=home / "workspace"),
            documents=write_documents(home / "documents", documents),
        )


def serve(server: ProviderServer, provider: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the environment so that `provider` is that server, at a known price."""
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        monkeypatch.delenv(name)
    values = {
        "CORPUS2SKILL_REPLY_SECONDS": "20",
        f"{provider.upper()}_BASE_URL": server.base_url,
        "ANTHROPIC_API_KEY": KEY,
        "OPENAI_API_KEY": KEY,
        "CORPUS2SKILL_PRICES": ", ".join(f"{model}={INPUT_PRICE}/{OUTPUT_PRICE}" for model in _PRICED),
        "CORPUS2SKILL_INPUT_PRICE": str(INPUT_PRICE),
        "CORPUS2SKILL_OUTPUT_PRICE": str(OUTPUT_PRICE),
        "CORPUS2SKILL_CONTEXT_WINDOW": str(WINDOW),
        "CORPUS2SKILL_LANG": "en",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)


def rules(count: int, *, first: int = 0) -> dict[str, str]:
    """Small documents of one chunk each, all different."""
    return {f"{_TOPICS[n % 10]}/{n:04}.md": rule(n) for n in range(first, first + count)}


def rule(number: int, more: str = "") -> str:
    topic = _TOPICS[number % 10]
    return (
        f"# {topic}規程{number}\n\n{topic}の申請{number}は、{number % 28 + 1}日までに総務部の窓口{number + 3}へ出す。"
        f"遅れた場合は翌月の扱いになり、{number * 7 + 100}円の手数料がかかる。{more}\n"
    )


def purpose_of(call: Call) -> str:
    """Which of a compile's purposes a call was for: by the keys that it wants and the blocks it shows."""
    body = call.json
    schema = obj(obj(obj(body.get("output_config")).get("format")).get("schema"))
    schema = schema or obj(obj(obj(body.get("response_format")).get("json_schema")).get("schema"))
    keys = set(obj(schema.get("properties")))
    if "groups" in keys:
        return "group"
    if "places" in keys:
        return "place"
    return "describe" if "<members>" in prompt_of(call) else "summarize"


def prompt_of(call: Call) -> str:
    """Everything a call says, as one text."""
    return "\n".join(_texts(call.json))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in obj(value).values():
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in items(value):
            yield from _texts(inner)


def bytes_below(folder: Path) -> bytes:
    """Every file below a folder, one behind the other."""
    return b"".join(path.read_bytes() for path in _files_below(folder))


def spent(ran: Ran) -> dict[str, dict[str, Any]]:
    """The spending of a `--json` answer by purpose."""
    return {line["purpose"]: line for line in ran.json["spending"]}


def _files_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _forking() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(list(_READ_BEFORE))
    return context


@dataclass(frozen=True, slots=True, kw_only=True)
class _Start:
    """What a process needs to know before it runs the command line."""

    arguments: list[str]
    environment: dict[str, str]
    terminal: str
    limit: int | None


def _run_apart(start: _Start) -> None:
    os.environ.clear()
    os.environ.update(start.environment)
    sys.stdin = Path(start.terminal).open(encoding="utf-8")  # noqa: SIM115 - open until the process ends
    sys.stdout, sys.stderr = (Path(start.terminal).open("a", encoding="utf-8") for _ in range(2))  # noqa: SIM115 - as above
    if start.limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (start.limit, start.limit))
    sys.exit(run(start.arguments))


@pytest.fixture(params=PROVIDERS)
def shop(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """A shop at each provider, with 12 documents."""
    with opened(request.param, tmp_path / "shop", rules(12), monkeypatch) as found:
        yield found


@pytest.fixture
def one_shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    """A shop at Anthropic alone, where the provider makes no difference, with 24."""
    with opened("anthropic", tmp_path / "shop", rules(24), monkeypatch) as found:
        yield found
