"""What the commands for a server's operator stand at: its opened state, the streams, and who they are."""

from __future__ import annotations

import getpass
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from corpus2skill.entrypoints.cli.desk import process_output
from corpus2skill.entrypoints.cli.output import Output
from corpus2skill.entrypoints.cli.serving import require_server
from corpus2skill.errors import InvalidInput
from corpus2skill.settings import load_server_settings, workspace_path

if TYPE_CHECKING:
    from corpus2skill.application.server_wiring import Server

TenantNameOption = Annotated[
    str, typer.Option("--tenant", metavar="NAME", help="The tenant meant.", show_default=True)
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        "--address",
        metavar="URL",
        help="Where people reach the server, for links; else where it is running now, else http://127.0.0.1:8484, or as "
        "CORPUS2SKILL_PORT says.",
        show_default=False,
    ),
]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerDesk:
    server: Server
    out: Output
    actor: str
    """As the operators' log names whoever runs the command."""

    def url(self, path: str, address: str | None) -> str:
        """The whole address of a path of the server's."""
        from corpus2skill.application.server.links import own_address
        from corpus2skill.application.server_wiring import address_served

        found = address or address_served(self.server.home) or own_address(self.server.server_settings)
        return found.rstrip("/") + path


def open_server_desk(workspace: Path | None, *, is_json: bool) -> ServerDesk:
    """Open the state of the server that `serve` here would serve; a running one may go on.

    Raises:
        InvalidInput: the extra was not installed.
    """
    require_server()
    from corpus2skill.application.note_deed import os_actor
    from corpus2skill.application.server_wiring import checked_database_url, open_server

    home = workspace_path(None if workspace is None else str(workspace), os.environ)
    settings = load_server_settings({}, os.environ)
    settings = replace(settings, database_url=checked_database_url(settings.database_url))
    server = open_server(home, settings)
    return ServerDesk(server=server, out=process_output(is_json=is_json), actor=os_actor())


def new_password(out: Output) -> str:
    """A password, typed twice at a terminal without being shown, else the first line of standard input.

    Raises:
        InvalidInput: the second time something else was typed.
    """
    if sys.stdin is None or not sys.stdin.isatty():
        return "" if sys.stdin is None else sys.stdin.readline().rstrip("\r\n")
    try:
        first = getpass.getpass(out.say("cli.people.password"))
        if getpass.getpass(out.say("cli.people.password_again")) != first:
            raise InvalidInput("passwords_differ")
    except EOFError:
        return ""
    return first
