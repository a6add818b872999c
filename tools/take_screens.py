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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

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
def _served(home: Path) -> Iterator[str]:
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


def _filled(browser: Browser, base: str, state: str) -> dict[str, str]:
    """Fill the workspace by the public interface; return the addresses of all screens by name."""
    context = browser.new_context(storage_state=state)
    api = context.request
    headers = {"Origin": base}

    def call(method: str, path: str, **more: object) -> dict[str, object]:
        answer = api.fetch(f"{base}/v1{path}", method=method, headers=headers, **more)  # type: ignore[arg-type]
        if not answer.ok:
            raise SystemExit(f"{method} {path}: {answer.status} {answer.text()}")
        return json.loads(answer.text() or "null")

    def json_call(method: str, path: str, body: object) -> dict[str, object]:
        return call(method, path, data=body)

    json_call("POST", "/corpora", {"name": "terms", "title": "利用規約とFAQ"})
    for file in sorted((SAMPLES / "ja").rglob("*")):
        if file.is_file():
            part = {"name": file.name, "mimeType": "application/octet-stream", "buffer": file.read_bytes()}
            call("POST", "/corpora/terms/documents", multipart={"files": part})
    job = str(json_call("POST", "/corpora/terms/jobs", {})["job_id"])
    while json_call_get(call, f"/jobs/{job}")["state"] not in ("succeeded", "failed"):
        time.sleep(0.5)
    session = str(json_call("POST", "/sessions", {"corpus": "terms"})["session_id"])
    runs = [_asked(call, json_call, session, question) for question in QUESTIONS["ja"]]
    context.close()
    return _addresses(job, session, runs)


def json_call_get(call: object, path: str) -> dict[str, object]:
    return call("GET", path)  # type: ignore[operator]


def _asked(call: object, json_call: object, session: str, question: str) -> str:
    run = str(json_call("POST", f"/sessions/{session}/runs", {"question": question})["run_id"])  # type: ignore[operator]
    while call("GET", f"/runs/{run}")["state"] == "running":  # type: ignore[operator]
        time.sleep(0.2)
    return run


def _addresses(job: str, session: str, runs: list[str]) -> dict[str, str]:
    return {
        "home": "/",
        "welcome": "/welcome",
        "knowledge": "/knowledge",
        "documents": "/c/terms/documents",
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
                page.wait_for_load_state("networkidle")
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
    page.on(
        "console",
        lambda said: print(f"{page.url}: {said.type}: {said.text}") if said.type == "error" else None,
    )  # noqa: T201
    page.on("pageerror", lambda error: print(f"{page.url}: {error}"))  # noqa: T201
    return page


if __name__ == "__main__":
    main()
