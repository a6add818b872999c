"""`corpora`, `versions`, `activate`, `rollback`, `diff`, `check` and `prune`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from corpus2skill.domain.version import Manifest
from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.desk import open_desk
from corpus2skill.entrypoints.cli.difference import difference_lines
from corpus2skill.entrypoints.cli.faults import fault_sentence
from corpus2skill.entrypoints.cli.noting import named, noted
from corpus2skill.entrypoints.cli.options import CorpusOption, JsonOption, WorkspaceOption, YesOption
from corpus2skill.entrypoints.cli.output import Output, columns
from corpus2skill.messages import error_message

if TYPE_CHECKING:
    from corpus2skill.application.manage_versions import CorpusLine

VersionArgument = Annotated[int, typer.Argument(metavar="VERSION", min=1, help="The version's number.")]


def corpora_command(workspace: WorkspaceOption = None, json: JsonOption = False) -> int:
    """List the corpora of the workspace.

    \b
    corpus2skill corpora
    """
    from corpus2skill.application.manage_versions import list_corpora

    desk = open_desk(workspace, is_json=json)
    lines = list_corpora(desk.workspace)
    damaged = [line.error for line in lines if line.error is not None]
    code = exit_codes.DAMAGED if damaged else exit_codes.OK
    if json:
        desk.out.document([_corpus_document(desk.out, line) for line in lines])
        return code
    if not lines:
        desk.out.note(desk.out.say("cli.no_corpora", workspace=str(desk.workspace.path)))
    say = desk.out.say
    rows = [
        (
            line.corpus,
            say("cli.none_active") if line.active is None else say("cli.active", version=line.active),
            say("cli.version_count", count=line.versions),
        )
        for line in lines
    ]
    for row in columns(rows):
        desk.out.answer(row)
    for error in damaged:
        desk.out.note(error_message(desk.out.language, error))
    return code


def _corpus_document(out: Output, line: CorpusLine) -> dict[str, object]:
    error = None if line.error is None else error_message(out.language, line.error)
    return {"corpus": line.corpus, "active": line.active, "versions": line.versions, "error": error}


def versions_command(
    corpus: CorpusOption = None, workspace: WorkspaceOption = None, json: JsonOption = False
) -> int:
    """List a corpus's versions; `*` marks the active one.

    \b
    corpus2skill versions
    corpus2skill versions --corpus terms --json
    """
    from corpus2skill.application.manage_versions import list_versions

    desk = open_desk(workspace, is_json=json)
    about, lines = list_versions(desk.workspace, corpus)
    error = None if about.error is None else error_message(desk.out.language, about.error)
    code = exit_codes.OK if error is None else exit_codes.DAMAGED
    if json:
        desk.out.document({"corpus": about.corpus, "versions": lines, "error": error})
        return code
    rows = [
        ("*" if line.is_active else " ", str(line.version), *_about(desk.out, line.manifest))
        for line in lines
    ]
    for row in columns(rows):
        desk.out.answer(row)
    if error is not None:
        desk.out.note(error)
    return code


def _about(out: Output, manifest: Manifest | None) -> tuple[str, str]:
    if manifest is None:
        return "", out.say("cli.manifest_unreadable")
    return manifest.created_at, out.say(
        "cli.version_about",
        sources=manifest.sources,
        chunks=manifest.chunks,
        nodes=manifest.nodes,
        warnings=manifest.refused + manifest.stand_ins,
    )


def activate_command(
    version: VersionArgument,
    corpus: CorpusOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Check a version and make it the active one.

    \b
    corpus2skill activate 2
    """
    from corpus2skill.application.manage_versions import activate

    desk = open_desk(workspace, is_json=json)
    switch = activate(desk.workspace, corpus, version)
    noted(desk, "version.activated", switch.corpus, before=switch.before, after=switch.after)
    if json:
        desk.out.document(switch)
    else:
        desk.out.answer(desk.out.say("cli.activated", corpus=switch.corpus, version=switch.after))
    return exit_codes.OK


def rollback_command(
    corpus: CorpusOption = None, workspace: WorkspaceOption = None, json: JsonOption = False
) -> int:
    """Go back to the version that was active before.

    \b
    corpus2skill rollback
    """
    from corpus2skill.application.manage_versions import rollback

    desk = open_desk(workspace, is_json=json)
    switch = rollback(desk.workspace, corpus)
    noted(desk, "version.rolled_back", switch.corpus, before=switch.before, after=switch.after)
    if json:
        desk.out.document(switch)
    else:
        desk.out.answer(
            desk.out.say("cli.rolled_back", corpus=switch.corpus, before=switch.before, after=switch.after)
        )
    return exit_codes.OK


def diff_command(
    before: Annotated[int, typer.Argument(metavar="A", min=1, help="The version compared with.")],
    after: Annotated[int, typer.Argument(metavar="B", min=1, help="The version looked at.")],
    corpus: CorpusOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Say what changed from version A to version B.

    \b
    corpus2skill diff 1 2
    """
    from corpus2skill.application.manage_versions import compare

    desk = open_desk(workspace, is_json=json)
    difference = compare(desk.workspace, corpus, before, after)
    if json:
        desk.out.document(difference)
        return exit_codes.OK
    for line in difference_lines(desk.out, difference, is_full=True):
        desk.out.answer(line)
    return exit_codes.OK


def check_command(
    version: Annotated[
        int | None,
        typer.Argument(metavar="VERSION", min=1, help="Else the active one.", show_default=False),
    ] = None,
    corpus: CorpusOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Verify a version from its files alone.

    \b
    corpus2skill check
    corpus2skill check 2 --json

    Every file that is not as it was written is named, and every leaf that no link leads to.
    """
    from corpus2skill.application.manage_versions import check

    desk = open_desk(workspace, is_json=json)
    result = check(desk.workspace, corpus, version)
    code = exit_codes.DAMAGED if result.faults else exit_codes.OK
    if json:
        desk.out.document({**_named(result.corpus, result.version), "faults": result.faults})
        return code
    values = {"corpus": result.corpus, "version": result.version, "count": len(result.faults)}
    desk.out.answer(desk.out.say("cli.check_faults" if result.faults else "cli.check_sound", **values))
    for fault in result.faults:
        desk.out.answer("  " + fault_sentence(desk.out, fault))
    return code


def _named(corpus: str, version: int) -> dict[str, object]:
    return {"corpus": corpus, "version": version}


def prune_command(
    corpus: CorpusOption = None,
    yes: YesOption = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Show, or with --yes remove, unneeded versions.

    \b
    corpus2skill prune
    corpus2skill prune --yes

    A version is needed while it is active, while `rollback` would go to it, and while a kept record cites it.
    """
    from corpus2skill.application.manage_versions import prunable, prune

    desk = open_desk(workspace, is_json=json)
    name, lines = (prune if yes else prunable)(desk.workspace, corpus)
    if yes and lines:
        noted(desk, "versions.pruned", name, versions=named(tuple(str(line.version) for line in lines)))
    if json:
        desk.out.document({"corpus": name, "removed": yes, "versions": lines})
        return exit_codes.OK
    for line in lines:
        key = "cli.pruned" if yes else "cli.prunable"
        desk.out.answer(desk.out.say(key, corpus=name, version=line.version, bytes=line.bytes))
    if not lines:
        desk.out.answer(desk.out.say("cli.nothing_to_prune", corpus=name))
    elif not yes:
        desk.out.note(desk.out.say("cli.prune_how"))
    return exit_codes.OK
