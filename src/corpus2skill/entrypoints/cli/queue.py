"""`queue`: the runs that somebody should look at."""

from __future__ import annotations

import typer

from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.options import JsonOption, WorkspaceOption
from corpus2skill.entrypoints.cli.server_desk import TenantNameOption, open_server_desk

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def group() -> None:
    """The server's queue of unanswered and badly rated questions.

    \b
    corpus2skill queue rebuild
    """


@app.command("rebuild")
def rebuild_command(
    tenant: TenantNameOption = "local", workspace: WorkspaceOption = None, json: JsonOption = False
) -> int:
    """Make the queue again from the records, those from before there was one too.

    What somebody said of entries stays.

    \b
    corpus2skill queue rebuild --tenant acme
    """
    from corpus2skill.application.server.reviews import rebuild_queue

    desk = open_server_desk(workspace, is_json=json)
    entries = rebuild_queue(desk.server, tenant)
    desk.server.audit.note(tenant, desk.actor, "queue.rebuilt", tenant, entries=entries)
    if json:
        desk.out.document({"tenant": tenant, "entries": entries})
    else:
        desk.out.answer(desk.out.say("cli.queue.rebuilt", tenant=tenant, entries=entries))
    return exit_codes.OK
