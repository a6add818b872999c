"""Batches that no compile picks up any more, as its model is used no more: seen, and given up."""

from __future__ import annotations

from corpus2skill.application.model_wiring import model_for, open_batch_model
from corpus2skill.application.wiring import Workspace
from corpus2skill.errors import Corpus2SkillError, NotFound
from corpus2skill.ports.batch_log import NotedBatch


def left_batches(workspace: Workspace) -> tuple[NotedBatch, ...]:
    """Return the batches of all corpora that are not read yet.

    Raises:
        Damaged, Busy, WorkspaceUnusable: the log cannot be read.
    """
    if not workspace.has_results():
        return ()
    log = workspace.batches()
    try:
        return log.left()
    finally:
        log.close()


def batch_name(batch: NotedBatch) -> str:
    """Return what a batch is called by: the provider's id, or ours where that never came."""
    return batch.batch_id or batch.token[:16]


async def close_batch(workspace: Workspace, name: str, base_url: str | None) -> Corpus2SkillError | None:
    """Give a batch up: it is cancelled at its provider and no longer waited for.

    Returns why it could not be cancelled, None where it was: it is given up all the same. What was answered
    before is paid for.

    Raises:
        NotFound: there is no such batch.
        Damaged, Busy, WorkspaceUnusable: the log cannot be read or written.
    """
    batch = next((left for left in left_batches(workspace) if batch_name(left) == name), None)
    if batch is None:
        raise NotFound("open_batch_unknown", batch=name)
    failure = None if batch.batch_id is None else await _cancelled(workspace, batch, batch.batch_id, base_url)
    log = workspace.batches()
    try:
        await log.strike(batch.token)
    finally:
        log.close()
    return failure


async def _cancelled(
    workspace: Workspace, batch: NotedBatch, batch_id: str, base_url: str | None
) -> Corpus2SkillError | None:
    try:
        model = open_batch_model(workspace, model_for(batch.model, "summarize"), base_url)
        try:
            await model.cancel(batch_id)
        finally:
            await model.close()
    except Corpus2SkillError as error:
        return error
    return None
