"""Corpora of a test's own, made through the public interface."""

from __future__ import annotations

from typing import Any

from tests.browser.screen import Screen

HOLIDAYS = "\n\n".join(
    f"## 第{n}条 {name}\n\n{name}は年{n}日とする。申請は{n}営業日前までに人事部へ行う。"
    for n, name in enumerate(("年次有給休暇", "慶弔休暇", "夏季休暇", "育児休暇", "介護休暇"), start=1)
)
TRAVEL = "\n\n".join(
    f"## 第{n}条 {name}\n\n{name}は、領収書を添えて{n}0日以内に経理部へ申請する。"
    for n, name in enumerate(("交通費", "宿泊費", "日当", "通信費", "会議費"), start=1)
)


def made_corpus(screen: Screen, corpus: str, title: str, files: dict[str, str], **settings: object) -> int:
    """Make a corpus of these texts by name and compile it; return the version."""
    screen.api("POST", "/corpora", {"corpus": corpus, "title": title, **settings})
    return added_version(screen, corpus, files)


def added_version(screen: Screen, corpus: str, files: dict[str, str], *, is_activated: bool = True) -> int:
    """Hand these texts in and compile; return the number of the version."""
    for name, text in files.items():
        screen.hand_in(corpus, name, text)
    job = screen.api("POST", f"/corpora/{corpus}/jobs", {"activate": is_activated})["job_id"]
    found = awaited(screen, f"/jobs/{job}", ("succeeded", "failed"))
    assert found["state"] == "succeeded", found
    return int(found["version"])


def asked(screen: Screen, corpus: str, question: str) -> dict[str, Any]:
    """Ask in a conversation of its own; return the run when it has ended."""
    session = screen.api("POST", "/sessions", {"corpus": corpus})["session_id"]
    run = screen.api("POST", f"/sessions/{session}/runs", {"question": question})["run_id"]
    return awaited(screen, f"/runs/{run}", ("finished",))


def awaited(screen: Screen, path: str, states: tuple[str, ...]) -> dict[str, Any]:
    """Ask for a job or a run until it is in one of these states."""
    for _ in range(600):
        found: dict[str, Any] = screen.api("GET", path)
        if found["state"] in states:
            return found
        screen.page.wait_for_timeout(100)
    raise AssertionError(f"{path} did not come to {states}")
