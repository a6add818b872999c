"""A compile killed at any call: a restart pays for what is missing, and for what was under way. No more."""

from __future__ import annotations

import asyncio
import os
import signal
from collections import Counter
from pathlib import Path

import pytest

from corpus2skill.adapters.clock import SystemClock
from corpus2skill.adapters.store.results import SqlResultStore, results_url
from corpus2skill.domain.message import ProgramMessage, Text, Usage
from corpus2skill.domain.model_call import TextCall, TextReply
from corpus2skill.domain.money import free
from corpus2skill.paying.budget import Budget
from corpus2skill.paying.ledger import Ledger
from corpus2skill.paying.paid_model import Account, PaidModel
from corpus2skill.paying.rate import KeyRate
from tests.fakes.language_model import FakeLanguageModel
from tests.unit.children import in_child

CALLS = 40
AT_ONCE = 4


class CountingModel(FakeLanguageModel):
    """Notes every call in a file, and kills its process instead of answering the `fatal`-th."""

    def __init__(self, notes: Path, fatal: int) -> None:
        super().__init__("")
        self._notes = notes
        self._fatal = fatal

    async def complete(self, call: TextCall) -> TextReply:
        note(self._notes, call.subject)
        self.calls.append(call)
        await asyncio.sleep(0.001)
        if len(self.calls) >= self._fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        return TextReply(text=f"要約 {call.subject}", stop="end", usage=Usage(input_tokens=9))


def note(notes: Path, subject: str) -> None:
    with notes.open("a", encoding="utf-8") as file:
        file.write(f"{subject}\n")


def compile_all(folder: Path, fatal: int) -> list[str]:
    """Make all the calls in a process of its own; return the texts."""

    async def main() -> list[str]:
        clock, store = SystemClock(), SqlResultStore(results_url(folder))
        account = Account(
            corpus="terms",
            store=store,
            budget=Budget(1.0),
            ledger=Ledger(),
            clock=clock,
            sleep=asyncio.sleep,
            chance=lambda: 0.5,
            listener=lambda _: None,
        )
        rate = KeyRate(clock=clock, sleep=asyncio.sleep, concurrency=AT_ONCE)
        paid = PaidModel(CountingModel(folder / "calls", fatal), account, rate=rate, price=free)
        replies = await asyncio.gather(*(paid.complete(call(f"{n}")) for n in range(CALLS)))
        await paid.close()
        store.close()
        return [reply.text for reply in replies]

    return asyncio.run(main())


def call(subject: str) -> TextCall:
    return TextCall(
        purpose="summarize",
        prompt_version="summary-1",
        system="要約してください。",
        messages=(ProgramMessage((Text(f"第{subject}条"),)),),
        schema="{}",
        max_output_tokens=100,
        subject=subject,
    )


@pytest.mark.parametrize("fatal", [1, 2, 9, 23, CALLS])
def test_a_restart_makes_the_missing_calls_and_those_that_were_under_way(tmp_path: Path, fatal: int) -> None:
    """Field report 1; issue 4: SIGKILL after call k. The replies are those of an undisturbed run."""
    assert in_child(lambda: compile_all(tmp_path, fatal)).was_killed
    ended = in_child(lambda: compile_all(tmp_path, CALLS + 1))
    assert ended.said == str([f"要約 {n}" for n in range(CALLS)])
    made = Counter((tmp_path / "calls").read_text(encoding="utf-8").split())
    assert len(made) == CALLS
    again = [subject for subject, times in made.items() if times > 1]
    assert len(again) <= AT_ONCE
    assert max(made.values()) <= 2


def test_a_third_run_makes_no_call_at_all(tmp_path: Path) -> None:
    """design.md, section 6: a finished call is never made again."""
    for _ in range(3):
        assert not in_child(lambda: compile_all(tmp_path, CALLS + 1)).was_killed
    assert len((tmp_path / "calls").read_text(encoding="utf-8").split()) == CALLS
