"""A server whose model answers when a test lets it: what is seen in the middle of a run holds still."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Browser, StorageState

from tests.browser.knowledge import HOLIDAYS, TRAVEL, made_corpus
from tests.browser.screen import Screen, new_context, sign_in
from tests.e2e.serving import ServerProcess
from tests.fakes.providers import KEY, openai_server
from tests.fakes.providers.hosting import in_thread

QUESTION = "育児休暇は何日ですか。出典も教えてください"
_MODEL = "openai:gpt-5-mini"


@dataclass(slots=True)
class Gate:
    """Model calls wait here, in the order in which they came; one that is given up waits no more."""

    _permits: int = 0
    _waiting: list[asyncio.Future[None]] = field(default_factory=list[asyncio.Future[None]])
    _loop: asyncio.AbstractEventLoop | None = None

    def let(self, calls: int) -> None:
        """Let so many more calls be answered."""
        self._do(lambda: self._add(calls))

    def close(self) -> None:
        """Take back what was let and not used."""
        self._do(lambda: self._add(-self._permits))

    async def __call__(self) -> None:
        self._loop = asyncio.get_running_loop()
        if self._permits:
            self._permits -= 1
            return
        mine: asyncio.Future[None] = self._loop.create_future()
        self._waiting.append(mine)
        await mine

    def _do(self, change: Callable[[], None]) -> None:
        if self._loop is None:
            change()
        else:
            self._loop.call_soon_threadsafe(change)

    def _add(self, calls: int) -> None:
        self._permits += calls
        self._waiting = [one for one in self._waiting if not one.done()]
        while self._permits and self._waiting:
            self._permits -= 1
            self._waiting.pop(0).set_result(None)


@dataclass(slots=True)
class HeldModel:
    server: ServerProcess
    state: StorageState
    gate: Gate
    home: Path
    environment: dict[str, str]

    def restart(self) -> None:
        """Kill the server and begin it anew under the same address."""
        port = urlsplit(str(self.server.told["url"])).port
        self.server.process.kill()
        self.server.__exit__()
        self.server = ServerProcess(self.home, "--port", str(port), environment=self.environment)


@contextmanager
def held_model(browser: Browser, folder: Path) -> Generator[HeldModel]:
    """With the corpus `rules`, compiled offline and asked by a model that costs money."""
    gate = Gate()
    provider = openai_server()
    provider.gate = gate
    with in_thread(provider):
        environment = {
            "OPENAI_BASE_URL": provider.base_url,
            "OPENAI_API_KEY": KEY,
            "CORPUS2SKILL_NAVIGATION_MODEL": _MODEL,
            "CORPUS2SKILL_PRICES": f"{_MODEL}=1/4",
            "CORPUS2SKILL_REPLY_SECONDS": "60",
        }
        server = ServerProcess(folder / "home", environment=environment)
        held = HeldModel(server, sign_in(browser, server), gate, folder / "home", environment)
        try:
            _fill(browser, held)
            yield held
        finally:
            gate.let(1_000)
            held.server.__exit__()


def _fill(browser: Browser, held: HeldModel) -> None:
    base = str(held.server.told["url"])
    context = new_context(browser, held.state, base=base)
    files = {"休暇規程.md": f"# 休暇規程\n\n{HOLIDAYS}", "旅費規程.md": f"# 旅費規程\n\n{TRAVEL}"}
    screen = Screen(context.new_page(), base)
    made_corpus(screen, "rules", "社内規程", files, hand_off="mailto:jinji@example.co.jp")
    context.close()
