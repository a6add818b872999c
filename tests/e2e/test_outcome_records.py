"""Every way in which a run can end, through the application into the workspace's records."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from corpus2skill.application.ask import Asking, AskOptions
from corpus2skill.application.show_records import export_jsonl, list_records, show_record, verify_records
from corpus2skill.application.wiring import Workspace, open_workspace
from corpus2skill.domain.message import Usage
from corpus2skill.domain.money import flat_price
from corpus2skill.domain.run import (
    OUTCOMES,
    NodeVisited,
    Outcome,
    RunEvent,
    RunFinished,
    RunLimits,
    RunRecord,
)
from corpus2skill.errors import ModelRefused, ModelUnusable
from corpus2skill.messages import message
from corpus2skill.navigator.cancellation import Cancellation
from corpus2skill.navigator.outcome import CancelReason
from corpus2skill.navigator.run import Navigator
from corpus2skill.navigator.tree_reader import TreeReader
from corpus2skill.ports.store import RecordFilter
from corpus2skill.settings import Settings
from tests.e2e.command_line import CommandLine
from tests.e2e.texts import ANNUAL
from tests.fakes.navigator_model import Script, ScriptedModel, Step, call, of, says, wants

LEAF = "doc_chunk_1"
TO_LEAF = wants(LEAF, why="解約の条文を読みます", usage=Usage(input_tokens=5000, output_tokens=20))
CORPUS = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Ending:
    """How a run is brought to an end once it has read a leaf."""

    then: Step
    limits: RunLimits = RunLimits()
    cancel: CancelReason | None = None
    breaks_tree: bool = False
    visits: int = 2
    """The root, the leaf, and what the end itself adds."""
    error: str | None = None


ENDINGS: dict[Outcome, Ending] = {
    "answered": Ending(then=says(f"末日まで使えます [{LEAF}]。")),
    "not_found": Ending(then=says(message("ja", "not_found_phrase"))),
    "fetch_limit": Ending(then=wants(LEAF), limits=RunLimits(fetches=1)),
    "timed_out": Ending(then=Script(hangs=True), limits=RunLimits(round_seconds=0.3), error="TimeoutError"),
    "cancelled": Ending(then=Script(hangs=True), cancel="stop"),
    "interrupted": Ending(then=Script(hangs=True), cancel="barge_in"),
    "stopped": Ending(then=Script(hangs=True), cancel="shutdown"),
    "refused": Ending(then=ModelRefused(), error="ModelRefused"),
    "budget": Ending(then=says("払えない"), limits=RunLimits(run_dollars=0.6), error="SpendingCapReached"),
    "tool_misuse": Ending(then=of(call({}, name="shell"))),
    "tree_unavailable": Ending(then=wants("SKILL.md"), breaks_tree=True, error="Damaged"),
    "model_failed": Ending(then=ModelUnusable("model_unusable"), error="ModelUnusable"),
}


def test_every_outcome_is_brought_about() -> None:
    """The closed set of design.md."""
    assert set(ENDINGS) == set(OUTCOMES)


@pytest.mark.requirement("N-51")
@pytest.mark.parametrize("outcome", OUTCOMES)
def test_a_run_that_ends_so_leaves_a_complete_record(japanese: CommandLine, outcome: Outcome) -> None:
    """N-51. Issue: records complete on every outcome of design.md."""
    workspace = open_workspace(japanese.workspace, Settings())
    ending = ENDINGS[outcome]
    told: list[RunEvent] = []
    made = asyncio.run(_ask(workspace, ending, told.append))
    assert (made.outcome, made.error_class) == (outcome, ending.error)
    _is_complete(made, ending)
    assert told[-1] == RunFinished(record=made)
    assert [event.visit for event in told if isinstance(event, NodeVisited)] == list(made.visits)
    assert show_record(workspace, made.ids.run) == made
    assert list(list_records(workspace, RecordFilter(outcome=outcome, user="tanaka"))) == [made]
    (line,) = export_jsonl([(made, None)])
    assert json.loads(line)["visits"][1]["source"] == made.evidence[0].source
    assert (verify_records(workspace).records, verify_records(workspace).faults) == (1, ())
    assert workspace.records().under_way("local", RecordFilter()) == 0


def _is_complete(record: RunRecord, ending: Ending) -> None:
    assert (record.ids.corpus, record.ids.version, record.ids.turn) == (CORPUS, 1, 1)
    assert (record.question, record.user, record.language) == (ANNUAL["ja"], "tanaka", "ja")
    assert (record.model, record.channel, record.door) == ("fake:scripted", "text", "cli")
    assert record.answer
    assert record.prompt_version
    assert len(record.visits) == ending.visits
    assert [visit.reason for visit in record.visits[:2]] == [
        message("ja", "reason.start"),
        "解約の条文を読みます",
    ]
    assert [(leaf.doc_id, leaf.source) for leaf in record.evidence] == [(LEAF, record.visits[1].source)]
    assert record.fetches == ending.visits - 1
    assert record.usage.output_tokens >= 20
    assert record.usd is not None
    assert record.usd > 0
    assert record.started_at <= record.ended_at
    assert record.total_ms >= 0


async def _ask(workspace: Workspace, ending: Ending, listener: Callable[[RunEvent], None]) -> RunRecord:
    model = ScriptedModel(TO_LEAF, ending.then, is_repeating=True)
    cancellation = Cancellation()
    navigator = Navigator(
        model=model,
        tree=TreeReader(store=workspace.versions, corpus=CORPUS, version=1),
        records=workspace.records(),
        clock=workspace.clock,
        ids=workspace.ids,
        sleep=asyncio.sleep,
        chance=lambda: 0.0,
        limits=replace(ending.limits, tries=1),
        price=flat_price(100, 500),
    )

    def hear(event: RunEvent) -> None:
        listener(event)
        if ending.breaks_tree and isinstance(event, NodeVisited) and event.visit.doc_id:
            shutil.rmtree(workspace.path / f"corpora/{CORPUS}/versions/1/tree")

    async with Asking(workspace, navigator) as asking:
        options = AskOptions(question=ANNUAL["ja"], user="tanaka")
        running = asyncio.create_task(asking.ask(options, hear, cancellation))
        if ending.cancel is not None:
            await model.hanging.wait()
            cancellation.cancel(ending.cancel)
        return await running
