"""`doctor`: what is installed, and whether the workspace is sound."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.desk import Desk, open_desk
from corpus2skill.entrypoints.cli.faults import fault_sentence
from corpus2skill.entrypoints.cli.model_trials import (
    tell_of_measuring,
    trial_documents,
    trial_lines,
    window_documents,
    window_lines,
)
from corpus2skill.entrypoints.cli.options import BaseUrlOption, JsonOption, ModelOption, WorkspaceOption
from corpus2skill.entrypoints.cli.output import Output, columns
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.messages import error_message

if TYPE_CHECKING:
    from corpus2skill.application.examine_workspace import CorpusHealth, Installation, WorkspaceHealth
    from corpus2skill.application.find_window import Window
    from corpus2skill.application.try_models import Trial
    from corpus2skill.ports.batch_log import NotedBatch

    _Tried = tuple[Sequence[Trial], Sequence[Window]]

CloseBatchOption = Annotated[
    str | None,
    typer.Option(
        "--close-batch",
        metavar="BATCH",
        help="Give up this batch of summaries: cancel it, and wait for it no longer.",
        show_default=False,
    ),
]


def doctor_command(
    model: ModelOption = None,
    base_url: BaseUrlOption = None,
    close_batch: CloseBatchOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Say what is installed, whether all is sound, and what the models can do.

    \b
    corpus2skill doctor
    corpus2skill doctor --model anthropic
    corpus2skill doctor --model openai:NAME --base-url http://localhost:11434/v1
    corpus2skill doctor --close-batch BATCH

    Of keys only the names are shown. Nothing is changed. A model that is configured or named is asked for
    one JSON reply and one tool call: two or three short calls, paid for like any other. Where nobody knows how
    much it reads, its server is asked, and else prompts that grow are tried; what that takes is said before.
    --close-batch gives up a batch that no compile picks up any more; it is all that is done then.
    """
    from corpus2skill.application.examine_workspace import examine_installation, examine_workspace

    desk = open_desk(workspace, is_json=json)
    if close_batch is not None:
        return _closed(desk, close_batch, base_url)
    installation, health = examine_installation(os.environ), examine_workspace(desk.workspace)
    if json:
        trials, windows = _tried(desk, model, base_url)
        models = {"models": trial_documents(desk.out, trials), "windows": window_documents(windows)}
        desk.out.document({**_document(desk, installation, health), **models})
    else:
        trials = _told(desk, installation, health, lambda: _tried(desk, model, base_url))
    return _exit_code(health, trials)


def _closed(desk: Desk, name: str, base_url: str | None) -> int:
    from corpus2skill.application.close_batch import close_batch

    failure = asyncio.run(close_batch(desk.workspace, name, base_url))
    if desk.out.is_json:
        desk.out.document(
            {"batch": name, "is_cancelled": failure is None, "error": _error(desk.out, failure)}
        )
    elif failure is None:
        desk.out.answer(desk.out.say("cli.batch_closed", batch=name))
    else:
        desk.out.answer(
            desk.out.say("cli.batch_given_up", batch=name, reason=error_message(desk.out.language, failure))
        )
    return exit_codes.OK


def _told(
    desk: Desk, installation: Installation, health: WorkspaceHealth, tried: Callable[[], _Tried]
) -> Sequence[Trial]:
    """Say what is known already, then try the models, which takes its time; the verdict is on all of it."""
    for line in (*_installed(desk.out, installation), "", *_examined(desk, health)):
        desk.out.answer(line)
    trials, windows = tried()
    is_sound = health.is_sound and all(trial.error is None and trial.is_usable for trial in trials)
    tried_lines = (*trial_lines(desk.out, trials), *window_lines(desk.out, windows))
    for line in (*tried_lines, desk.out.say("cli.sound" if is_sound else "cli.unsound")):
        desk.out.answer(line)
    return trials


def _tried(desk: Desk, model: str | None, base_url: str | None) -> _Tried:
    from corpus2skill.application.try_models import find_windows, try_models

    language = "ja" if desk.out.language == "ja" else "en"

    async def tried() -> _Tried:
        trials = await try_models(desk.workspace, model, base_url, language)
        tell = partial(tell_of_measuring, desk.out)
        return trials, await find_windows(desk.workspace, model, base_url, trials, tell)

    return asyncio.run(tried())


def _exit_code(health: WorkspaceHealth, trials: Sequence[Trial]) -> int:
    if health.error is not None:
        return exit_codes.of_error(health.error)
    if not health.is_sound:
        return exit_codes.DAMAGED
    errors = [trial.error for trial in trials if trial.error is not None]
    if errors:
        return exit_codes.of_error(errors[0])
    return exit_codes.OK if all(trial.is_usable for trial in trials) else exit_codes.NOT_COMPILED


def _installed(out: Output, installation: Installation) -> Iterator[str]:
    say = out.say
    keys = [
        (name, say("cli.key_set" if is_set else "cli.key_unset"))
        for name, is_set in installation.keys.items()
    ]
    packages = [(item.name, item.version or say("cli.missing")) for item in installation.packages]
    yield f"corpus2skill {installation.product}  Python {installation.python}  {installation.system}"
    yield say("cli.engines", engines=", ".join(installation.engines))
    yield say("cli.keys")
    yield from (f"  {line}" for line in columns(keys))
    yield say("cli.packages")
    yield from (f"  {line}" for line in columns(packages))


def _examined(desk: Desk, health: WorkspaceHealth) -> Iterator[str]:
    say = desk.out.say
    yield say("cli.workspace", workspace=str(desk.workspace.path))
    if not health.exists:
        yield say("cli.workspace_absent")
    if not health.is_writable:
        yield say("cli.workspace_unwritable")
    for corpus in health.corpora:
        yield from _corpus_lines(desk.out, corpus)
    yield from _batch_lines(desk.out, health.batches)
    if health.records is not None:
        key = "cli.chain_faults" if health.records.faults else "cli.chain_sound"
        yield say(key, records=health.records.records, head=health.records.head)
        yield from (f"  {fault_sentence(desk.out, fault)}" for fault in health.records.faults)
    if health.error is not None:
        yield error_message(desk.out.language, health.error)


def _corpus_lines(out: Output, corpus: CorpusHealth) -> Iterator[str]:
    active = "-" if corpus.active is None else str(corpus.active)
    yield out.say("cli.corpus_health", corpus=corpus.corpus, active=active, count=corpus.versions)
    if corpus.error is not None:
        yield f"  {error_message(out.language, corpus.error)}"
    yield from (f"  {fault_sentence(out, fault)}" for fault in corpus.faults)
    if corpus.leftovers:
        yield "  " + out.say("cli.leftovers", count=corpus.leftovers)


def _batch_lines(out: Output, batches: Sequence[NotedBatch]) -> Iterator[str]:
    from corpus2skill.application.close_batch import batch_name

    for batch in batches:
        yield out.say(
            "cli.batch_unread",
            batch=batch_name(batch),
            corpus=batch.corpus,
            model=batch.model,
            calls=len(batch.calls),
            day=batch.noted_at.date().isoformat(),
        )


def _document(desk: Desk, installation: Installation, health: WorkspaceHealth) -> dict[str, object]:
    return {
        "installation": installation,
        "workspace": {
            "path": str(desk.workspace.path),
            "exists": health.exists,
            "is_writable": health.is_writable,
            "is_sound": health.is_sound,
            "error": _error(desk.out, health.error),
            "corpora": [
                {
                    "corpus": corpus.corpus,
                    "active": corpus.active,
                    "versions": corpus.versions,
                    "faults": corpus.faults,
                    "leftovers": corpus.leftovers,
                    "error": _error(desk.out, corpus.error),
                }
                for corpus in health.corpora
            ],
            "batches": [
                {
                    "batch": batch.batch_id,
                    "corpus": batch.corpus,
                    "model": batch.model,
                    "calls": len(batch.calls),
                    "noted_at": batch.noted_at.isoformat(),
                }
                for batch in health.batches
            ],
            "records": health.records,
        },
    }


def _error(out: Output, error: Corpus2SkillError | None) -> dict[str, str] | None:
    return None if error is None else {"code": error.code, "message": error_message(out.language, error)}
