"""A real server with the offline engine, Debian's Chromium, and screens in which nothing may go wrong.

The fixtures are of this folder's scope: while playwright runs, its event loop counts as running in this thread,
and the async tests of other folders could not begin their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, StorageState, expect

from tests.browser.screen import Screen, chromium, new_context, sign_in
from tests.e2e.serving import ServerProcess

ScreenOf = Callable[..., Screen]
expect.set_options(timeout=15_000)  # of a machine on which everything runs at once
SAMPLES = Path(__file__).parent.parent.parent / "src" / "corpus2skill" / "samples"


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    with chromium() as running:
        yield running


@pytest.fixture(scope="package")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with an empty workspace, that the tests of this folder share."""
    with ServerProcess(tmp_path_factory.mktemp("screens") / "home") as server:
        yield server


@pytest.fixture(scope="package")
def signed_in(browser: Browser, served: ServerProcess) -> StorageState:
    """The owner's sign-in: the server's link is good for one."""
    return sign_in(browser, served)


@pytest.fixture
def screen_of(browser: Browser, served: ServerProcess, signed_in: StorageState) -> Iterator[ScreenOf]:
    """Makes screens: `screen_of(language="en", theme="dark", width=320)`.

    Fails the test for console errors, breaches of the policy, page errors and requests to another host.
    """
    made: list[Screen] = []

    def make(
        *, server: ServerProcess | None = None, state: StorageState | None = None, **look: str | int
    ) -> Screen:
        base = str((server or served).told["url"])
        context = new_context(browser, state or signed_in, base=base, **look)  # type: ignore[arg-type]
        made.append(Screen(context.new_page(), base))
        return made[-1]

    yield make
    faults = [fault for screen in made for fault in screen.unexpected()]
    for screen in made:
        screen.page.context.close()
    assert faults == []


@pytest.fixture
def screen(screen_of: ScreenOf) -> Screen:
    """One in Japanese, light, of a desk's size."""
    return screen_of()


@pytest.fixture
def new_server(
    browser: Browser, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[..., tuple[ServerProcess, StorageState]]]:
    """Makes servers of a test's own, each with an owner's sign-in: `new_server("--option", environment={...})`."""
    begun: list[ServerProcess] = []

    def begin(*options: str, **more: dict[str, str]) -> tuple[ServerProcess, StorageState]:
        home = tmp_path_factory.mktemp("own") / "home"
        begun.append(ServerProcess(home, *options, **more).__enter__())
        return begun[-1], sign_in(browser, begun[-1])

    yield begin
    for server in begun:
        server.__exit__()


@pytest.fixture(scope="package")
def compiled(browser: Browser, served: ServerProcess, signed_in: StorageState) -> str:
    """A corpus of the Japanese samples with its first version live; nobody changes it."""
    context = new_context(browser, signed_in, base=str(served.told["url"]))
    screen = Screen(context.new_page(), str(served.told["url"]))
    screen.api("POST", "/corpora", {"corpus": "samples", "title": "利用規約とFAQ"})
    for file in sorted((SAMPLES / "ja").iterdir()):
        screen.hand_in("samples", file.name, file.read_bytes())
    job = screen.api("POST", "/corpora/samples/jobs", {})["job_id"]
    assert screen.ended(job) == "succeeded"
    context.close()
    return "samples"
