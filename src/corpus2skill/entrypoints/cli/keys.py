"""`keys`: the master key that seals the customers' keys of providers."""

from __future__ import annotations

import typer

from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.desk import process_output
from corpus2skill.entrypoints.cli.options import JsonOption, WorkspaceOption
from corpus2skill.entrypoints.cli.server_desk import open_server_desk
from corpus2skill.entrypoints.cli.serving import require_server

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def group() -> None:
    """Make and change the master key of the server here.

    \b
    corpus2skill keys new
    corpus2skill keys rotate
    """


@app.command("new")
def new_command(json: JsonOption = False) -> int:
    """Print a new master key, for CORPUS2SKILL_MASTER_KEY or a file. Nothing is changed.

    \b
    corpus2skill keys new
    """
    require_server()
    from corpus2skill.application.server_wiring import new_master_key

    out = process_output(is_json=json)
    key = new_master_key()
    if json:
        out.document({"master_key": key})
    else:
        out.answer(key)
    return exit_codes.OK


@app.command("rotate")
def rotate_command(workspace: WorkspaceOption = None, json: JsonOption = False) -> int:
    """Change the master key and seal everything anew; what was broken off goes on when run again.

    A key in a file is changed there. One in CORPUS2SKILL_MASTER_KEY is changed by hand: put the new one before
    the old one, with a comma between, restart the server, run this, and take the old one out. The server may run.

    \b
    corpus2skill keys rotate
    """
    from corpus2skill.application.wiring import TENANT

    desk = open_server_desk(workspace, is_json=json)
    server = desk.server
    resealed = server.vault.rotate(server.sealed)
    server.audit.note(TENANT, desk.actor, "master_key.rotated", "master_key", resealed=resealed)
    if json:
        desk.out.document({"resealed": resealed})
    else:
        desk.out.answer(desk.out.say("cli.keys.rotated", resealed=resealed))
    return exit_codes.OK
