"""`backup` and `restore`: a workspace in one file, and back."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.desk import open_desk, process_output
from corpus2skill.entrypoints.cli.noting import noted
from corpus2skill.entrypoints.cli.options import JsonOption, WorkspaceOption, named_path
from corpus2skill.settings import expanded, load_server_settings, workspace_path

FileArgument = Annotated[
    Path,
    typer.Argument(parser=named_path, metavar="FILE", help="As backup.tar.gz; packed where it ends in gz."),
]
MasterKeyOption = Annotated[
    bool,
    typer.Option(
        "--with-master-key", help="Put master.key in: whoever has the file can then read the stored keys."
    ),
]
FilesOnlyOption = Annotated[
    bool, typer.Option("--files-only", help="Leave the databases out: with PostgreSQL, pg_dump saves those.")
]


def backup_command(
    file: FileArgument,
    with_master_key: MasterKeyOption = False,
    files_only: FilesOnlyOption = False,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Write the workspace into one file; a running server may go on.

    \b
    corpus2skill backup backup.tar.gz
    corpus2skill backup files.tar.gz --files-only
    """
    from corpus2skill.application.backups import back_up

    desk = open_desk(workspace, is_json=json)
    made = back_up(
        desk.workspace.path,
        expanded(file),
        desk.workspace.clock,
        with_master_key=with_master_key,
        files_only=files_only,
        database_url=load_server_settings({}, os.environ).database_url,
    )
    noted(desk, "backup.made", "backup", files=made.files, has_master_key=made.has_master_key)
    if json:
        desk.out.document(made)
        return exit_codes.OK
    desk.out.answer(desk.out.say("cli.backup.made", path=made.path, files=made.files, bytes=made.bytes))
    desk.out.note(desk.out.say("cli.backup.key_in" if made.has_master_key else "cli.backup.key_out"))
    return exit_codes.OK


def restore_command(file: FileArgument, workspace: WorkspaceOption = None, json: JsonOption = False) -> int:
    """Put a backup into an empty folder, after everything in it was checked.

    \b
    corpus2skill restore backup.tar.gz --workspace /srv/corpus2skill
    """
    from corpus2skill.application.backups import restore

    out = process_output(is_json=json)
    home = workspace_path(None if workspace is None else str(workspace), os.environ)
    done = restore(expanded(file), home)
    noted(open_desk(home, is_json=json), "backup.restored", "backup", made_at=done.made_at, files=done.files)
    code = exit_codes.DAMAGED if done.faults else exit_codes.OK
    if json:
        out.document(done)
        return code
    out.answer(out.say("cli.restore.done", home=done.home, files=done.files, made_at=done.made_at))
    out.answer(out.say("cli.restore.checked", corpora=done.corpora, records=done.records))
    for found in done.faults:
        sentence = out.say(f"fault.{found.fault.code}", file=found.fault.file, detail=found.fault.detail)
        out.note(f"{found.where}: {sentence}")
    if not done.has_master_key:
        out.note(out.say("cli.restore.key_out"))
    if not done.has_databases:
        out.note(out.say("cli.restore.databases_out"))
    return code
