"""`config`: the workspace's settings."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.desk import open_desk
from corpus2skill.entrypoints.cli.options import JsonOption, WorkspaceOption
from corpus2skill.entrypoints.cli.output import Output, columns

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The setting.")]


@app.callback()
def show_command(ctx: typer.Context, workspace: WorkspaceOption = None, json: JsonOption = False) -> int:
    """Show or change the workspace's settings.

    \b
    corpus2skill config
    corpus2skill config set chunk_limit 1200
    corpus2skill config unset chunk_limit
    """
    if ctx.invoked_subcommand is not None:
        return exit_codes.OK
    from corpus2skill.application.change_settings import list_settings

    desk = open_desk(workspace, is_json=json)
    lines = list_settings(desk.workspace, os.environ)
    if json:
        settings = {line.name: {"value": line.value, "origin": line.origin} for line in lines}
        desk.out.document({"workspace": str(desk.workspace.path), "settings": settings})
        return exit_codes.OK
    rows = [
        (line.name, _in_words(desk.out, line.name, line.value), desk.out.say(f"cli.origin.{line.origin}"))
        for line in lines
    ]
    for row in columns(rows):
        desk.out.answer(row)
    desk.out.note(desk.out.say("cli.workspace", workspace=str(desk.workspace.path)))
    return exit_codes.OK


@app.command("set")
def set_command(
    name: NameArgument,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="Its new value.")],
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Set one setting.

    \b
    corpus2skill config set corpus terms
    """
    from corpus2skill.application.change_settings import set_setting

    desk = open_desk(workspace, is_json=json)
    set_setting(desk.workspace, name, value)
    if json:
        desk.out.document({"name": name, "value": value})
    else:
        desk.out.answer(f"{name} = {value}")
    return exit_codes.OK


@app.command("unset")
def unset_command(name: NameArgument, workspace: WorkspaceOption = None, json: JsonOption = False) -> int:
    """Take one setting out, so that its default holds again.

    \b
    corpus2skill config unset corpus
    """
    from corpus2skill.application.change_settings import unset_setting

    desk = open_desk(workspace, is_json=json)
    unset_setting(desk.workspace, name)
    if json:
        desk.out.document({"name": name, "value": None})
    else:
        desk.out.answer(desk.out.say("cli.unset", name=name))
    return exit_codes.OK


def _in_words(out: Output, name: str, value: object) -> str:
    """A value as people say it; programs get it raw."""
    if value is None:
        return out.say("cli.not_set")
    if not isinstance(value, float):
        return str(value)
    if name.endswith("_seconds"):
        return out.say("cli.seconds", seconds=f"{value:g}")
    return f"${value:,.2f}" if round(value, 2) == value else f"${value:g}"
