"""A browser that is signed in to a real server, and what it may never say."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    StorageState,
    sync_playwright,
)

from tests.e2e.serving import ServerProcess

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
AXE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "corpus2skill-tests"
"""Where `make browser` puts axe-core."""
_RULES = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22a", "wcag22aa")


@contextmanager
def chromium() -> Generator[Browser]:
    """Debian's Chromium; skips where it is not installed."""
    path = shutil.which("chromium")
    if path is None:
        missing("Chromium is not installed (make browser)")
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=path, args=list(FLAGS))
        yield browser
        browser.close()


def axe_script() -> str:
    """The text of axe-core; skips where it is not installed."""
    path = AXE / "node_modules" / "axe-core" / "axe.min.js"
    if not path.exists():
        missing("axe-core is not installed (make browser)")
    return path.read_text(encoding="utf-8")


def missing(reason: str) -> None:
    """Skip, but not where all checks have to run."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def sign_in(browser: Browser, server: ServerProcess) -> StorageState:
    """Use the server's one-time link; return what a context is signed in with."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(str(server.told["sign_in_url"]))
    page.locator("main button").click()
    page.wait_for_url(f"{server.told['url']}/**")
    state = context.storage_state()
    context.close()
    return state


@dataclass(slots=True)
class Screen:
    """A page of a signed-in person; what went wrong in it is collected in `faults`."""

    page: Page
    base: str
    faults: list[str] = field(default_factory=list)
    allowed: list[str] = field(default_factory=list)
    """Parts of console errors that a test brings about on purpose, `status of 409` for instance."""

    def __post_init__(self) -> None:
        self.page.on("console", lambda message: self._heard(message))
        self.page.on("pageerror", lambda error: self.faults.append(f"{self.page.url}: {error}"))
        self.page.on("request", lambda request: self._requested(request))

    def open(self, path: str) -> Page:
        """Go to `path` below the server's address and wait until it is filled."""
        self.page.goto(self.base + path)
        self.page.locator("#page > :not(.wait)").first.wait_for(state="attached")
        return self.page

    def api(self, method: str, path: str, body: object = None, **more: Any) -> Any:
        """Ask `/v1` with this person's sign-in, as a program would."""
        headers = {"Origin": self.base, "Content-Type": "application/json"}
        if "multipart" in more:
            del headers["Content-Type"]
        data = None if body is None else json.dumps(body)
        answer = self.page.request.fetch(
            f"{self.base}/v1{path}", method=method, headers=headers, data=data, **more
        )
        assert answer.ok, f"{method} {path}: {answer.status} {answer.text()}"
        return json.loads(answer.text() or "null")

    def hand_in(self, corpus: str, name: str, content: bytes | str) -> dict[str, Any]:
        """Hand a file in; return what the server says of it."""
        content = content.encode("utf-8") if isinstance(content, str) else content
        part: Any = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
        return self.api("POST", f"/corpora/{corpus}/documents", multipart={"files": part})["data"][0]

    def ended(self, job: str) -> str:
        """Wait until a job has come to rest; return its state."""
        for _ in range(600):
            state = str(self.api("GET", f"/jobs/{job}")["state"])
            if state not in ("queued", "running"):
                return state
            self.page.wait_for_timeout(100)
        raise AssertionError(f"{job} never came to rest")

    def judged(self, corpus: str) -> dict[str, int]:
        """Wait until no document of a corpus is still to be looked at; return how many are in each state."""
        for _ in range(600):
            counts = self.api("GET", f"/corpora/{corpus}/documents?counts=true")["counts"]
            if "received" not in counts:
                return counts
            self.page.wait_for_timeout(100)
        raise AssertionError(f"{corpus} was never looked through")

    def axe(self, page: Page | None = None) -> list[str]:
        """Violations of WCAG 2.0 to 2.2, A and AA, each with the elements that it was found in."""
        page = page or self.page
        page.evaluate(axe_script())
        found = page.evaluate(
            "tags => axe.run(document, {runOnly: {type: 'tag', values: tags}, resultTypes: ['violations']})",
            list(_RULES),
        )
        return [
            f"{fault['id']}: {node['html'][:200]} {node.get('failureSummary', '')}"
            for fault in found["violations"]
            for node in fault["nodes"]
        ]

    def unexpected(self) -> list[str]:
        return [fault for fault in self.faults if not any(part in fault for part in self.allowed)]

    def _heard(self, said: ConsoleMessage) -> None:
        if said.type == "error":
            self.faults.append(f"{self.page.url}: {said.text}")

    def _requested(self, request: Request) -> None:
        asked = urlsplit(request.url)
        if asked.scheme in ("http", "https") and asked.netloc != urlsplit(self.base).netloc:
            self.faults.append(f"{self.page.url}: asks {request.url}")


def new_context(
    browser: Browser,
    state: StorageState,
    *,
    base: str,
    language: str = "ja",
    theme: str = "light",
    width: int = 1280,
    height: int = 800,
) -> BrowserContext:
    """A context of a signed-in person, without motion."""
    context = browser.new_context(
        storage_state=state,
        viewport={"width": width, "height": height},
        locale=language,
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
        timezone_id="Asia/Tokyo",
    )
    context.set_default_timeout(15_000)
    context.add_cookies([{"name": "c2s_language", "value": language, "url": base}])
    return context


def fits(page: Page) -> bool:
    """True where nothing has to be scrolled sideways but what scrolls in itself."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def heading_levels(page: Page) -> list[int]:
    """Of all headings in the order of the page."""
    return [
        int(name) for name in page.eval_on_selector_all("h1,h2,h3,h4,h5", "all => all.map(e => e.tagName[1])")
    ]


def said(place: Locator) -> str:
    return " ".join(place.inner_text().split())
