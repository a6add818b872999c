"""`tenants`: the customers of a server."""

from __future__ import annotations

from typing import Annotated

import typer

from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.options import JsonOption, WorkspaceOption
from corpus2skill.entrypoints.cli.output import columns
from corpus2skill.entrypoints.cli.server_desk import open_server_desk

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def show_command(
    ctx: typer.Context,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """List and add the tenants of the server here.

    \b
    corpus2skill tenants list
    corpus2skill tenants add acme
    """
    if ctx.invoked_subcommand is not None:
        return exit_codes.OK
    return list_command(workspace, json)


@app.command("list")
def list_command(workspace: WorkspaceOption = None, json: JsonOption = False) -> int:
    """List the tenants.

    \b
    corpus2skill tenants list
    """
    from corpus2skill.application.server.members import list_tenants

    desk = open_server_desk(workspace, is_json=json)
    lines = list_tenants(desk.server)
    if json:
        desk.out.document(lines)
        return exit_codes.OK
    say = desk.out.say
    rows = [
        (line.tenant, line.created_at or "-", say("cli.tenants.members", count=line.members))
        for line in lines
    ]
    for row in columns(rows):
        desk.out.answer(row)
    return exit_codes.OK


@app.command("add")
def add_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="a-z, 0-9 and hyphens.")],
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Add a tenant; its first owner comes next.

    \b
    corpus2skill tenants add acme
    corpus2skill people add Tanaka --tenant acme --role owner --link
    """
    from corpus2skill.application.server.members import add_tenant

    desk = open_server_desk(workspace, is_json=json)
    tenant = add_tenant(desk.server, name, desk.actor)
    if json:
        desk.out.document(tenant)
        return exit_codes.OK
    desk.out.answer(desk.out.say("cli.tenants.added", tenant=tenant.tenant))
    desk.out.note(desk.out.say("cli.tenants.owner_next", tenant=tenant.tenant))
    return exit_codes.OK
