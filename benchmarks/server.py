"""The server as its clients feel it: `corpus2skill serve` in a process of its own, asked over loopback by this one.

`server.py [idle | upload | look | estimate | watch] ...`, or nothing for all; `--chunks N` of the compile (20000),
`--seconds N` of each phase (60; of `watch` it is how long the watchers watch), `--postgres` for the other database.
Every ratio is of two sides measured in one run; the load of the machine at both is printed beside it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncGenerator, AsyncIterator, Generator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for the fakes

from paid_corpus import write_documents

from corpus2skill.application.compile_documents import compile_documents
from corpus2skill.application.compile_engine import silent
from corpus2skill.application.compile_options import CompileOptions
from corpus2skill.application.server.corpora import create_corpus
from corpus2skill.application.server.credentials import NewCredential, store_credential
from corpus2skill.application.server.sign_in import new_token
from corpus2skill.application.server_wiring import Server, new_master_key, open_server
from corpus2skill.application.wiring import TENANT
from corpus2skill.domain.people import SCOPES, Principal
from corpus2skill.domain.upload import CorpusSettings
from corpus2skill.settings import ServerSettings
from tests.e2e.serving import ServerProcess
from tests.fakes.postgres_cluster import PostgresCluster, binaries
from tests.fakes.providers import KEY
from tests.fakes.providers.hosting import spawned

LATENCY = 0.5
"""Seconds of the provider that the compile pays; the one that is asked questions has none."""
READS_A_SECOND = 20.0
RUNS_A_SECOND = 1.0
WATCHERS = 200
_MODEL = "anthropic"
_BIG = "big"
_ASKED = "asked"
_UPLOADS = "uploads"
_SMALL_CHUNKS = 2_000
_SETTLING_SECONDS = 40.0
"""Until the worker has read its modules, on a machine that has much else to do."""
_UPLOADS_EACH = 10
_MOST_READ = 1_000_000
"""Bytes: more are sent as a file that is refused at a glance, so that what is timed is the upload."""
_QUESTION = "解約は何日前までに届け出ますか。"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shop:
    """A server with two corpora: one that is asked, and one that is compiled meanwhile."""

    process: ServerProcess
    server: Server
    token: str
    home: Path

    @property
    def worker(self) -> int:
        """The worker's process id."""
        return next(number for number in _children(self.process.process.pid) if "worker" in _command(number))


@dataclass(slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Told:
    """What is said of a job."""

    state: str
    stage: str
    """The first that is not done."""
    calls: int
    is_over: bool
    cause: str


class Client:
    """One connection that is kept; a minimal HTTP/1.1 of our own, so that a client library's time is not measured."""

    def __init__(self, shop: Shop) -> None:
        self._host: str = shop.process.told["url"].split("/")[2].rpartition(":")[0]
        self._port = int(shop.process.told["url"].split("/")[2].rpartition(":")[2])
        self._token = shop.token
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, method: str, path: str, body: object = None, more: str = "") -> Answer:
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        kind = "" if more or body is None else "Content-Type: application/json\r\n"
        reader, _ = await self.send(
            method, path, data, f"{kind}{more}Connection: keep-alive\r\nContent-Length: {len(data)}\r\n"
        )
        status, headers = await _head(reader)
        answer = await reader.readexactly(int(headers.get("content-length", "0")))
        return Answer(status=status, headers=headers, body=answer)

    async def send(
        self, method: str, path: str, data: bytes, headers: str
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port)
        head = f"{method} {path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\nAuthorization: Bearer {self._token}\r\n"
        self._streams[1].write(f"{head}{headers}\r\n".encode() + data)
        await self._streams[1].drain()
        return self._streams

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


@dataclass(slots=True)
class Times:
    """Milliseconds."""

    all: list[float] = field(default_factory=list[float])

    def add(self, began: float) -> None:
        self.all.append(1000 * (time.monotonic() - began))

    @property
    def median(self) -> float:
        return statistics.median(self.all)

    @property
    def p95(self) -> float:
        return sorted(self.all)[max(0, int(len(self.all) * 0.95 + 0.5) - 1)]

    def __str__(self) -> str:
        return f"median {self.median:.1f}, p95 {self.p95:.1f}, most {max(self.all):.1f} ms of {len(self.all)}"


async def idle(shop: Shop, options: argparse.Namespace) -> None:
    """CPU and memory of a server and a worker that nobody asks anything."""
    await asyncio.sleep(_SETTLING_SECONDS)
    assert shop.server.workers.alive(), "the worker has not come yet"
    door, worker = shop.process.process.pid, shop.worker
    before = _cpu(door), _cpu(worker)
    await asyncio.sleep(options.seconds)
    for name, number, was in (("door", door, before[0]), ("worker", worker, before[1])):
        share = 100 * (_cpu(number) - was) / options.seconds
        _say(f"idle {name}: {share:.2f} % of a core over {options.seconds} s, {_memory(number):.0f} MB")


async def upload(shop: Shop, _options: argparse.Namespace) -> None:
    """Upload POSTs beside a raw write and fsync of the same bytes, with nothing to inspect and with much."""
    client = Client(shop)
    for is_busy in (False, True):
        if is_busy:
            for _ in range(3):
                await _hand_in(client, [os.urandom(20_000).hex().encode() for _ in range(200)])
        for name, count, size in (
            ("1 file of 20 KB", 1, 20_000),
            ("1 file of 10 MB", 1, 10_000_000),
            ("50 files of 20 KB", 50, 20_000),
        ):
            posts, raws, more, cpu = Times(), Times(), Times(), 0.0
            for _ in range(_UPLOADS_EACH):
                files = [_made_up(size) for _ in range(count)]
                began = time.monotonic()
                _write_raw(shop.home, files)
                raws.add(began)
                began, spent = time.monotonic(), _cpu(shop.process.process.pid)
                await _hand_in(client, files)
                posts.add(began)
                cpu += 1000 * (_cpu(shop.process.process.pid) - spent) / _UPLOADS_EACH
                more.all.append(posts.all[-1] - raws.all[-1])
                if not is_busy:
                    await _judged(client)
            state = "worker inspecting" if is_busy else "worker idle"
            _say(
                f"upload, {name}, {state}: {posts}; raw median {raws.median:.1f}; more: {more}; CPU of the door {cpu:.0f} ms"
            )
    client.close()


async def look(shop: Shop, options: argparse.Namespace) -> None:
    """A tree read and a run, idle and while a compile is under way, and idle again."""
    client = Client(shop)
    paths = await _paths(client)
    phases: dict[str, tuple[Times, Times]] = {}
    phases["idle"] = await _looked(shop, paths, options.seconds)
    job = await _start(client)
    began = time.monotonic()
    while not (told := await _job(client, job)).is_over:
        reads, runs = await _looked(shop, paths, 5.0)
        kept = phases.setdefault(told.stage, (Times(), Times()))
        kept[0].all.extend(reads.all)
        kept[1].all.extend(runs.all)
    assert told.state == "succeeded", (told, shop.process.log()[-3000:])
    _say(f"the compile: {told.state}, {time.monotonic() - began:.0f} s, {told.calls} calls")
    phases["idle again"] = await _looked(shop, paths, options.seconds)
    during = Times(), Times()
    for name, (reads, runs) in phases.items():
        _say(f"{name}: reads {reads}; runs {runs}")
        if not name.startswith("idle"):
            during[0].all.extend(reads.all)
            during[1].all.extend(runs.all)
    for number, what in enumerate(("read", "run")):
        floor = Times([*phases["idle"][number].all, *phases["idle again"][number].all])
        _say(
            f"{what}: p95 {during[number].p95:.1f} ms during the compile over {floor.p95:.1f} idle: {during[number].p95 / floor.p95:.2f}; medians {during[number].median / floor.median:.2f}"
        )
    client.close()


async def estimate(shop: Shop, options: argparse.Namespace) -> None:
    """A tree read while estimates of the big corpus are made, beside an idle one."""
    client = Client(shop)
    paths = await _paths(client)
    floor, _ = await _looked(shop, paths, options.seconds / 2, has_runs=False)
    looking = asyncio.create_task(_looked(shop, paths, options.seconds, has_runs=False))
    took = Times()
    while not looking.done():
        began = time.monotonic()
        answer = await client.ask("POST", f"/v1/corpora/{_BIG}/jobs?dry_run=true", {"model": _MODEL})
        assert answer.status == 200, answer.body
        took.add(began)
    reads, _ = await looking
    _say(f"an estimate of {options.chunks} chunks: {took}")
    _say(f"reads during estimates: {reads}; idle: {floor}; p95 over p95 {reads.p95 / floor.p95:.2f}")
    client.close()


async def watch(shop: Shop, options: argparse.Namespace) -> None:
    """Watchers of runs, cut off at random moments; each must have every event once."""
    until, counts = time.monotonic() + options.seconds, {"events": 0, "cuts": 0, "runs": 0, "faults": 0}
    door = shop.process.process.pid
    memories: list[tuple[float, float]] = []
    shows = [_Show(shop, counts) for _ in range(4)]
    tasks = [asyncio.create_task(show.go_on(until)) for show in shows]
    tasks += [
        asyncio.create_task(_watcher(shop, shows[number % 4], counts, number)) for number in range(WATCHERS)
    ]
    began, cpu = time.monotonic(), _cpu(door)
    while not all(task.done() for task in tasks):
        memories.append((time.monotonic() - began, _memory(door)))
        await asyncio.wait(tasks, timeout=10)
    await asyncio.gather(*tasks)
    share = 100 * (_cpu(door) - cpu) / (time.monotonic() - began)
    _say(f"{WATCHERS} watchers, {options.seconds} s: {counts}, the door {share:.0f} % of a core")
    shown = " ".join(f"{at:.0f}s:{size:.0f}" for at, size in memories[:: max(1, len(memories) // 12)])
    _say(f"memory of the door, MB: {shown}, at the end {_memory(door):.0f}")


class _Show:
    """Runs one after another, each watched by many."""

    def __init__(self, shop: Shop, counts: dict[str, int]) -> None:
        self._shop, self._counts = shop, counts
        self.run: str | None = None
        self.number = 0
        self.changed = asyncio.Condition()
        self.is_over = False
        self.watching = 0

    async def go_on(self, until: float) -> None:
        client = Client(self._shop)
        while time.monotonic() < until:
            run = await _ask(client)
            async with self.changed:
                self.run, self.number, self.watching = run, self.number + 1, WATCHERS // 4
                self.changed.notify_all()
                await self.changed.wait_for(lambda: not self.watching)
            self._counts["runs"] += 1
        async with self.changed:
            self.is_over = True
            self.changed.notify_all()
        client.close()

    async def next(self, seen: int) -> tuple[str, int] | None:
        async with self.changed:
            await self.changed.wait_for(lambda: self.is_over or self.number > seen)
            return None if self.is_over or self.run is None else (self.run, self.number)

    async def leave(self) -> None:
        async with self.changed:
            self.watching -= 1
            self.changed.notify_all()


async def _watcher(shop: Shop, show: _Show, counts: dict[str, int], number: int) -> None:
    chance, seen = random.Random(number), 0
    while (found := await show.next(seen)) is not None:
        run, seen = found
        numbers: list[int] = []
        is_over = False
        while not is_over:
            left = chance.randint(1, 40)
            async with _events(shop, f"/v1/runs/{run}/events", numbers[-1] if numbers else 0) as events:
                async for event, kind in events:
                    numbers.append(event)
                    left -= 1
                    is_over = kind == "run.finished"
                    if is_over or not left:
                        break
                else:
                    assert numbers, "a stream that ends with nothing"
            counts["cuts"] += not is_over
        counts["events"] += len(numbers)
        # Pieces that lay behind are told as one, with the number of the last of them: numbers grow, and texts are
        # compared where they are told (tests); here none may come twice, and the last must be there.
        counts["faults"] += numbers != sorted(set(numbers)) or numbers[-1] != _last_number(shop, run)
        await show.leave()


def _last_number(shop: Shop, run: str) -> int:
    topic = (TENANT, f"run:{run}")
    return shop.server.events.newest([topic]).get(topic, 0)


@asynccontextmanager
async def _events(shop: Shop, path: str, after: int) -> AsyncGenerator[AsyncIterator[tuple[int, str]]]:
    client = Client(shop)
    reader, _ = await client.send("GET", path, b"", f"Last-Event-ID: {after}\r\n")
    status, _headers = await _head(reader)
    assert status == 200, status
    try:
        yield _read_events(reader)
    finally:
        client.close()


async def _read_events(reader: asyncio.StreamReader) -> AsyncIterator[tuple[int, str]]:
    rest, number = b"", 0
    while size := int(await reader.readline(), 16):
        rest += await reader.readexactly(size)
        await reader.readexactly(2)
        *lines, rest = rest.split(b"\n")
        for line in lines:
            name, _, value = line.partition(b": ")
            if name == b"id":
                number = int(value)
            elif name == b"event":
                yield number, value.decode()


async def _looked(
    shop: Shop, paths: list[str], seconds: float, *, has_runs: bool = True
) -> tuple[Times, Times]:
    """Reads and runs at an even pace, each begun whether or not the one before it was slow."""
    reads, runs, until = Times(), Times(), time.monotonic() + seconds
    lanes = [asyncio.create_task(_reading(shop, paths, until, reads))]
    if has_runs:
        lanes.append(asyncio.create_task(_asking(shop, until, runs)))
    await asyncio.gather(*lanes)
    return reads, runs


async def _reading(shop: Shop, paths: list[str], until: float, times: Times) -> None:
    client, chance = Client(shop), random.Random(7)
    for at in _paced(READS_A_SECOND, until):
        await asyncio.sleep(max(0.0, at - time.monotonic()))
        began = time.monotonic()
        answer = await client.ask("GET", f"/v1/corpora/{_ASKED}/versions/1/nodes?path={chance.choice(paths)}")
        times.add(began)
        assert answer.status == 200, answer.body
    client.close()


async def _asking(shop: Shop, until: float, times: Times) -> None:
    client = Client(shop)
    for at in _paced(RUNS_A_SECOND, until):
        await asyncio.sleep(max(0.0, at - time.monotonic()))
        session = await client.ask("POST", "/v1/sessions", {"corpus": _ASKED})
        path = f"/v1/sessions/{_text(session, 'session_id')}/runs"
        began = time.monotonic()
        run = await client.ask("POST", path, {"question": _QUESTION, "model": "openai"})
        assert run.status == 202, run.body
        async with _events(shop, f"/v1/runs/{_text(run, 'run_id')}/events", 0) as events:
            async for _, kind in events:
                if kind == "run.finished":
                    break
        times.add(began)
    client.close()


def _paced(rate: float, until: float) -> Iterator[float]:
    at = time.monotonic()
    while at < until:
        yield at
        at = max(at + 1 / rate, time.monotonic())


async def _ask(client: Client) -> str:
    session = await client.ask("POST", "/v1/sessions", {"corpus": _ASKED})
    path = f"/v1/sessions/{_text(session, 'session_id')}/runs"
    return _text(await client.ask("POST", path, {"question": _QUESTION, "model": "openai"}), "run_id")


async def _paths(client: Client) -> list[str]:
    answer = await client.ask("GET", f"/v1/corpora/{_ASKED}/versions/1/tree?depth=2")
    return [node["path"] for node in json.loads(answer.body)["data"]]


async def _start(client: Client) -> str:
    """Start the big compile. The fake's prices are unknown: it quotes an estimate instead of having a cap."""
    path = f"/v1/corpora/{_BIG}/jobs"
    shown = await client.ask("POST", f"{path}?dry_run=true", {"model": _MODEL})
    answer = await client.ask("POST", path, {"estimate_id": _text(shown, "estimate_id")})
    assert answer.status == 202, answer.body
    return _text(answer, "job_id")


async def _job(client: Client, job: str) -> _Told:
    found = json.loads((await client.ask("GET", f"/v1/jobs/{job}")).body)
    stage = next((stage["stage"] for stage in found["stages"] if not stage["is_done"]), "publish")
    return _Told(
        state=found["state"],
        stage=stage,
        calls=found["spent"]["calls"],
        is_over=bool(found["ended_at"]),
        cause=str(found["cause"] and found["cause"]["message"]),
    )


async def _hand_in(client: Client, files: list[bytes]) -> None:
    parts = b"".join(
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="%d.%b"\r\n\r\n%b\r\n'
        % (time.monotonic_ns() + number, b"bin" if len(data) > _MOST_READ else b"txt", data)
        for number, data in enumerate(files)
    )
    kind = "Content-Type: multipart/form-data; boundary=x\r\n"
    answer = await client.ask("POST", f"/v1/corpora/{_UPLOADS}/documents", parts + b"--x--\r\n", kind)
    assert answer.status == 202, answer.body


async def _judged(client: Client) -> None:
    """Wait until nothing is to be looked into."""
    while True:
        answer = await client.ask("GET", f"/v1/corpora/{_UPLOADS}/documents?limit=1&counts=true")
        if not json.loads(answer.body)["counts"].get("received"):
            return
        await asyncio.sleep(0.1)


async def _head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = (line.partition(": ") for line in lines[1:] if line)
    return int(lines[0].split()[1]), {name.lower(): value for name, _, value in headers}


def _text(answer: Answer, name: str) -> str:
    found = json.loads(answer.body)
    assert name in found, answer.body
    return found[name]


def _made_up(size: int) -> bytes:
    sentence = f"第{random.randint(1, 10**9)}条 届け出は三十日前までに行う。\n\n".encode()
    return (sentence * (size // len(sentence) + 1))[:size]


def _write_raw(home: Path, files: list[bytes]) -> None:
    for number, data in enumerate(files):
        with (home / f"raw-{number}").open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


@contextmanager
def opened(options: argparse.Namespace) -> Generator[Shop]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        paid = stack.enter_context(spawned(["--no-bodies", "--latency", str(LATENCY)]))
        asked = stack.enter_context(spawned(["--no-bodies"]))
        url = None
        if options.postgres:
            programs = binaries()
            assert programs is not None, "PostgreSQL is not installed"
            cluster = PostgresCluster(programs)
            stack.callback(cluster.remove)
            url = cluster.new_database()
        environment = {
            "CORPUS2SKILL_MASTER_KEY": new_master_key(),
            "CORPUS2SKILL_REQUESTS_PER_MINUTE": "10000000",
            "CORPUS2SKILL_QUESTIONS_PER_MINUTE": "10000000",
            "CORPUS2SKILL_ALLOW_PRIVATE_ENDPOINTS": "true",
            **({"CORPUS2SKILL_DATABASE_URL": url} if url else {}),
        }
        os.environ.update(environment)
        home = folder / "home"
        server = open_server(home, ServerSettings(database_url=url, allow_private_endpoints=True))
        by = Principal(tenant=TENANT, actor="bench", name="bench", scopes=frozenset(SCOPES))
        for provider, base in (("anthropic", paid.anthropic_url), ("openai", asked.openai_url)):
            store_credential(server, by, NewCredential(provider=provider, secret=KEY, base_url=base))
        _fill(server, by, folder, options.chunks)
        _, token = new_token(server, TENANT, "bench", SCOPES, "bench")
        began = time.monotonic()
        with ServerProcess(home) as process:
            _say(
                f"serve answers after {time.monotonic() - began:.2f} s, {_cpu(process.process.pid):.2f} s of CPU"
            )
            yield Shop(process=process, server=server, token=token, home=home)


def _fill(server: Server, by: Principal, folder: Path, chunks: int) -> None:
    for corpus, count in ((_BIG, chunks), (_ASKED, _SMALL_CHUNKS)):
        create_corpus(server, by, corpus, CorpusSettings())
        write_documents(folder / corpus, count)
        versions = server.workspace(TENANT).versions
        config = versions.config(corpus)
        with versions.exclusive(corpus):
            versions.save_config(corpus, replace(config, paths=(str(folder / corpus),)))
    create_corpus(server, by, _UPLOADS, CorpusSettings())
    options = CompileOptions(corpus=_ASKED, paths=(folder / _ASKED,))
    asyncio.run(compile_documents(server.workspace(TENANT), options, silent))


def _children(number: int) -> list[int]:
    found: list[int] = []
    for task in Path(f"/proc/{number}/task").iterdir():
        found += map(int, (task / "children").read_text().split())
    return found


def _command(number: int) -> str:
    return Path(f"/proc/{number}/cmdline").read_bytes().replace(b"\0", b" ").decode()


def _cpu(number: int) -> float:
    """Seconds of CPU so far."""
    fields = Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(number: int) -> float:
    """Resident, MB."""
    status = Path(f"/proc/{number}/status").read_text()
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1000


def _say(line: str) -> None:
    sys.stdout.write(f"[load {os.getloadavg()[0]:.1f}] {line}\n")
    sys.stdout.flush()


PARTS = {"idle": idle, "upload": upload, "look": look, "estimate": estimate, "watch": watch}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []])
    parser.add_argument("--chunks", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--postgres", action="store_true")
    options = parser.parse_args()
    with opened(options) as shop:
        for part in options.parts or PARTS:
            asyncio.run(PARTS[part](shop, options))


if __name__ == "__main__":
    main()
