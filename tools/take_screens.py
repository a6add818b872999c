"""Take a picture of every screen: both languages, both themes, a phone and a desk.

    python tools/take_screens.py FOLDER [--only PART] [--ja] [--light] [--desk]

Serves a workspace of its own, filled with the samples through the public HTTP interface, and drives Debian's
Chromium. For looking at; nothing is compared.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import cast

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    FilePayload,
    FormData,
    Page,
    expect,
    sync_playwright,
)

SAMPLES = Path(__file__).parent.parent / "src" / "corpus2skill" / "samples"
CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
BROKEN = "壊れた見積書.pdf"
SIZES = {"desk": (1280, 800), "phone": (390, 844)}
QUESTIONS = {
    "ja": ("年額プランの解約方法を教えてください", "火星への出張費は精算できますか"),
    "en": ("How do I cancel the annual plan?", "Can I expense a trip to Mars?"),
}


def main() -> None:
    wanted = _arguments()
    wanted.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as home, _served(Path(home)) as link, sync_playwright() as player:
        browser = player.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        state = _signed_in(browser, link, Path(home) / "browser.json")
        base = link.partition("/sign-in")[0]
        addresses = _filled(browser, base, state)
        for name, address in addresses.items():
            if wanted.only in name:
                _pictures(browser, base, state, name, address, wanted)
        browser.close()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="screens whose name has this in it")
    parser.add_argument("--ja", action="store_true", help="Japanese alone")
    parser.add_argument("--light", action="store_true", help="the light theme alone")
    parser.add_argument("--desk", action="store_true", help="the desk's size alone")
    return parser.parse_args()


@contextmanager
def _served(home: Path) -> Generator[str]:
    """A server on a free port; yields its one-time sign-in link."""
    command = [sys.executable, "-m", "corpus2skill.entrypoints.cli.main", "serve", "--port", "0"]
    environment = {**os.environ, "CORPUS2SKILL_HOME": str(home / "home"), "CORPUS2SKILL_LANG": "en"}
    log = (home / "serve.log").open("w+b")
    process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)  # noqa: S603 - ours
    try:
        yield _link(home / "serve.log", process)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _link(log: Path, process: subprocess.Popen[bytes]) -> str:
    while process.poll() is None:
        for word in log.read_text(encoding="utf-8").split():
            if "/sign-in?code=" in word:
                return word
        time.sleep(0.1)
    raise SystemExit(log.read_text(encoding="utf-8"))


def _signed_in(browser: Browser, link: str, kept: Path) -> str:
    context = browser.new_context()
    page = context.new_page()
    page.goto(link)
    page.locator("main button, main input[type=submit]").first.click()
    page.wait_for_load_state()
    context.storage_state(path=kept)
    context.close()
    return str(kept)


class _Api:
    """The public interface, asked with the sign-in of a browser's context."""

    def __init__(self, context: BrowserContext, base: str) -> None:
        self._requests, self._base = context.request, base

    def ask(self, method: str, path: str, body: object = None) -> dict[str, object]:
        """Ask and return the answer's object. Ends the program where the server refuses."""
        return self._answer(method, path, data=None if body is None else json.dumps(body))

    def send(self, path: str, file: Path) -> None:
        """Hand in a file."""
        part = FilePayload(name=file.name, mimeType="application/octet-stream", buffer=file.read_bytes())
        self._answer("POST", path, multipart={"files": part})

    def until(self, path: str, *states: str) -> None:
        """Wait for something to come to one of these states."""
        while self.ask("GET", path)["state"] not in states:
            time.sleep(0.2)

    def _answer(
        self,
        method: str,
        path: str,
        data: str | None = None,
        multipart: dict[str, str | float | bool | bytes | FilePayload] | FormData | None = None,
    ) -> dict[str, object]:
        headers = {"Origin": self._base} | ({} if multipart else {"Content-Type": "application/json"})
        answer = self._requests.fetch(
            f"{self._base}/v1{path}", method=method, headers=headers, data=data, multipart=multipart
        )
        if not answer.ok:
            raise SystemExit(f"{method} {path}: {answer.status} {answer.text()}")
        return json.loads(answer.text() or "{}")


def _filled(browser: Browser, base: str, state: str) -> dict[str, str]:
    """Fill the workspace by the public interface; return the addresses of all screens by name."""
    context = browser.new_context(storage_state=state)
    api = _Api(context, base)
    api.ask("POST", "/corpora", {"corpus": "terms", "title": "利用規約とFAQ"})
    api.ask("POST", "/corpora", {"corpus": "empty", "title": "まだ何もないコーパス"})
    for file in sorted((SAMPLES / "ja").iterdir()):
        api.send("/corpora/terms/documents", file)
    job = str(api.ask("POST", "/corpora/terms/jobs", {})["job_id"])
    api.until(f"/jobs/{job}", "succeeded", "failed")
    _refused(api)
    session = str(api.ask("POST", "/sessions", {"corpus": "terms"})["session_id"])
    runs = [_asked(api, session, question) for question in QUESTIONS["ja"]]
    documents = api.ask("GET", "/corpora/terms/documents")["data"]
    assert isinstance(documents, list)
    names = {str(one["name"]): str(one["document_id"]) for one in cast("list[dict[str, object]]", documents)}
    context.close()
    return _addresses(job, session, runs, names)


def _refused(api: _Api) -> None:
    """A document that nobody can read."""
    with tempfile.TemporaryDirectory() as folder:
        broken = Path(folder) / BROKEN
        broken.write_bytes(b"%PDF-1.7 cut off")
        api.send("/corpora/terms/documents", broken)
    time.sleep(2)


def _asked(api: _Api, session: str, question: str) -> str:
    run = str(api.ask("POST", f"/sessions/{session}/runs", {"question": question})["run_id"])
    while api.ask("GET", f"/runs/{run}")["state"] == "running":
        time.sleep(0.2)
    return run


def _addresses(job: str, session: str, runs: list[str], documents: dict[str, str]) -> dict[str, str]:
    return {
        "home": "/",
        "welcome": "/welcome",
        "knowledge": "/knowledge",
        "documents": "/c/terms/documents",
        "documents-none": "/c/empty/documents",
        "document": f"/c/terms/documents/{documents['利用規約.docx']}",
        "document-refused": f"/c/terms/documents/{documents[BROKEN]}",
        "compile": "/c/terms/compile",
        "jobs": "/c/terms/jobs",
        "job": f"/jobs/{job}",
        "tree": "/c/terms/tree",
        "leaf": "/c/terms/versions/1/leaves/doc_chunk_1",
        "versions": "/c/terms/versions",
        "corpus-settings": "/c/terms/settings",
        "talk-new": "/talk?corpus=terms",
        "talk": f"/talk?corpus=terms&session={session}",
        "records": "/records",
        "record": f"/records/{runs[0]}",
        "queue": "/queue",
        "tests": "/tests",
        "settings": "/settings",
        "keys": "/settings/keys",
        "limits": "/settings/limits",
        "tokens": "/settings/tokens",
        "members": "/settings/members",
        "log": "/settings/log",
        "retention": "/settings/retention",
        "account": "/settings/account",
        "sign-in": "/sign-in",
    }


def _pictures(
    browser: Browser, base: str, state: str, name: str, address: str, wanted: argparse.Namespace
) -> None:
    for language in ("ja",) if wanted.ja else ("ja", "en"):
        for theme in ("light",) if wanted.light else ("light", "dark"):
            for size in ("desk",) if wanted.desk else SIZES:
                page = _opened(browser, base, state, language, theme, size)
                page.goto(f"{base}{address}")
                # A screen that watches something keeps a connection open: the network is never idle.
                if page.locator("#page").count():
                    page.locator("#page > :not(.wait)").first.wait_for(state="attached")
                expect(page.locator(".wait")).to_have_count(0, timeout=15_000)
                page.screenshot(path=wanted.folder / f"{name}-{language}-{theme}-{size}.png", full_page=True)
                page.context.close()


def _opened(browser: Browser, base: str, state: str, language: str, theme: str, size: str) -> Page:
    width, height = SIZES[size]
    context = browser.new_context(
        storage_state=state,
        viewport={"width": width, "height": height},
        locale=language,
        color_scheme="dark" if theme == "dark" else "light",
        reduced_motion="reduce",
    )
    context.add_cookies([{"name": "c2s_language", "value": language, "url": base}])
    page = context.new_page()
    page.on("console", _heard)
    page.on("pageerror", lambda error: print(f"{page.url}: {error}"))
    return page


def _heard(said: ConsoleMessage) -> None:
    if said.type == "error":
        print(f"{said.location['url']}: {said.text}")


if __name__ == "__main__":
    main()
