"""Batches that no compile picks up any more: seen by `doctor`, and given up by name."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from pathlib import Path

import pytest

from corpus2skill.application.close_batch import close_batch, left_batches
from corpus2skill.application.examine_workspace import examine_workspace
from corpus2skill.application.model_wiring import open_batch_model
from corpus2skill.application.wiring import Workspace, open_workspace
from corpus2skill.domain.model_name import ModelName
from corpus2skill.errors import ModelError, NotFound
from corpus2skill.messages import error_message
from corpus2skill.ports.batch_log import NotedBatch
from corpus2skill.settings import Settings
from tests.fakes.clock import START
from tests.fakes.opened_models import text_call
from tests.fakes.providers import KEY, BatchPlan, ProviderServer, anthropic_server, openai_server

pytestmark = pytest.mark.anyio

MODELS = {"anthropic": "claude-haiku-5-5", "openai": "gpt-4.1-mini"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Left:
    """A workspace that has left a batch at a provider, and is about something else now."""

    workspace: Workspace
    server: ProviderServer
    name: ModelName
    batch: NotedBatch


@pytest.fixture(params=["anthropic", "openai"])
async def left(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncGenerator[Left]:
    for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(variable, KEY)
    make = anthropic_server if request.param == "anthropic" else openai_server
    async with make(batch_plan=BatchPlan(polls=99)) as server:
        workspace = open_workspace(tmp_path, Settings(model="offline", base_url=server.base_url))
        name = ModelName(request.param, MODELS[request.param])
        yield Left(workspace=workspace, server=server, name=name, batch=await _handed_in(workspace, name))


async def _handed_in(workspace: Workspace, name: ModelName) -> NotedBatch:
    model = open_batch_model(workspace, name, None)
    batch_id = await model.submit({"a": text_call(), "b": text_call(words="更新")}, "token-1")
    batch = NotedBatch(
        token="token-1",
        corpus="規約",
        model=str(name),
        identity=model.identity,
        calls=(),
        noted_at=START,
        batch_id=batch_id,
    )
    await model.close()
    log = workspace.batches()
    await log.note(batch)
    log.close()
    return batch


async def test_a_batch_that_was_left_is_named_whatever_model_is_used_now(left: Left) -> None:
    """Issue 4, batch mode: a batch of another model does not lie in the log for ever unseen."""
    assert left_batches(left.workspace) == (left.batch,)
    assert examine_workspace(left.workspace).batches == (left.batch,)


async def test_a_batch_is_given_up_by_its_name(left: Left) -> None:
    """It is cancelled at its provider, so that no more of it is paid for, and no longer waited for."""
    assert await close_batch(left.workspace, left.batch.batch_id or "", None) is None
    assert left_batches(left.workspace) == ()
    assert [call.path for call in left.server.calls if call.path.endswith("/cancel")] != []


async def test_only_the_named_batch_is_given_up(left: Left) -> None:
    """A wrong name gives up nothing."""
    with pytest.raises(NotFound) as refused:
        await close_batch(left.workspace, "batch_other", None)
    assert "batch_other" in error_message("ja", refused.value)
    assert left_batches(left.workspace) == (left.batch,)


async def test_a_batch_that_cannot_be_cancelled_is_given_up_all_the_same(
    left: Left, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The key may be gone with the account; the log is the user's own. The key is not shown."""
    wrong = "sk-wrong-key-9876543210"
    for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(variable, wrong)
    failure = await close_batch(left.workspace, left.batch.batch_id or "", None)
    assert isinstance(failure, ModelError)
    assert failure.code == "key_refused"
    assert wrong not in repr(failure) + error_message("en", failure)
    assert left_batches(left.workspace) == ()


def test_looking_for_batches_makes_no_database(tmp_path: Path) -> None:
    """`doctor` changes nothing."""
    assert left_batches(open_workspace(tmp_path, Settings())) == ()
    assert list(tmp_path.iterdir()) == []
