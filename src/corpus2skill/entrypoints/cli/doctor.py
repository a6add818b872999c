"""`doctor`: what is installed, and whether the workspace is sound."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.desk import Desk, open_desk
from corpus2skill.entrypoints.cli.faults import fault_sentence
from corpus2skill.entrypoints.cli.options import JsonOption, WorkspaceOption
from corpus2skill.entrypoints.cli.output import Output, columns
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.messages import error_message

if TYPE_CHECKING:
    from corpus2skill.application.examine_workspace import CorpusHealth, Installation, WorkspaceHealth


def doctor_command(workspace: WorkspaceOption = None, json: JsonOption = False) -> int:
    """Say what is installed and whether all is sound.

    \b
    corpus2skill doctor
    corpus2skill doctor --json

    Of keys only the names are shown. Nothing is changed.
    """
    from corpus2skill.application.examine_workspace import examine_installation, examine_workspace

    desk = open_desk(workspace, is_json=json)
    installation, health = examine_installation(os.environ), examine_workspace(desk.workspace)
    if json:
        desk.out.document(_document(desk, installation, health))
    else:
        for line in (*_installed(desk.out, installation), "", *_examined(desk, health)):
            desk.out.answer(line)
    if health.error is not None:
        return exit_codes.of_error(health.error)
    return exit_codes.OK if health.is_sound else exit_codes.DAMAGED


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
    if health.records is not None:
        key = "cli.chain_faults" if health.records.faults else "cli.chain_sound"
        yield say(key, records=health.records.records, head=health.records.head)
        yield from (f"  {fault_sentence(desk.out, fault)}" for fault in health.records.faults)
    if health.error is not None:
        yield error_message(desk.out.language, health.error)
    yield say("cli.sound" if health.is_sound else "cli.unsound")


def _corpus_lines(out: Output, corpus: CorpusHealth) -> Iterator[str]:
    active = "-" if corpus.active is None else str(corpus.active)
    yield out.say("cli.corpus_health", corpus=corpus.corpus, active=active, count=corpus.versions)
    if corpus.error is not None:
        yield f"  {error_message(out.language, corpus.error)}"
    yield from (f"  {fault_sentence(out, fault)}" for fault in corpus.faults)
    if corpus.leftovers:
        yield "  " + out.say("cli.leftovers", count=corpus.leftovers)


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
            "records": health.records,
        },
    }


def _error(out: Output, error: Corpus2SkillError | None) -> dict[str, str] | None:
    return None if error is None else {"code": error.code, "message": error_message(out.language, error)}
