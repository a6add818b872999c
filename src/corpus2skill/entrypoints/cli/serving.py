"""`serve`: the HTTP API."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.desk import process_output
from corpus2skill.entrypoints.cli.options import JsonOption, WorkspaceOption
from corpus2skill.entrypoints.cli.output import Output
from corpus2skill.errors import InvalidInput
from corpus2skill.settings import ServerSettings, load_server_settings, workspace_path

if TYPE_CHECKING:
    from corpus2skill.application.server_wiring import Server
_PACKAGES = (
    "fastapi",
    "httpcore2",
    "uvicorn",
    "structlog",
    "prometheus_client",
    "cryptography",
    "psycopg",
    "argon2",
    "jinja2",
)
"""Some of what the extra `server` brings."""

HostOption = Annotated[
    str | None,
    typer.Option(
        "--host",
        metavar="ADDRESS",
        help="Where to listen; 0.0.0.0 for everywhere (default: 127.0.0.1).",
        show_default=False,
    ),
]
PortOption = Annotated[
    int | None,
    typer.Option(
        "--port", metavar="PORT", min=0, max=65_535, help="0: any (default: 8484).", show_default=False
    ),
]
RootPathOption = Annotated[
    str | None,
    typer.Option(
        "--root-path", metavar="PATH", help="The sub-path of a proxy, as /docs.", show_default=False
    ),
]
DatabaseOption = Annotated[
    str | None,
    typer.Option(
        "--database-url",
        metavar="URL",
        help="postgresql://USER@HOST/NAME; else SQLite in the workspace. A password is better named in "
        "CORPUS2SKILL_DATABASE_URL.",
        show_default=False,
    ),
]
PublicHostOption = Annotated[
    list[str] | None,
    typer.Option(
        "--public-host", metavar="NAME", help="A name that the server answers to.", show_default=False
    ),
]
ProxyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--trusted-proxy",
        metavar="ADDRESS",
        help="A proxy whose X-Forwarded-For and X-Forwarded-Proto are believed.",
        show_default=False,
    ),
]
MasterKeyOption = Annotated[
    Path | None,
    typer.Option(
        "--master-key-file",
        metavar="FILE",
        help="The key that seals customers' keys; else CORPUS2SKILL_MASTER_KEY, or on this machine alone one that "
        "is made in the workspace.",
        show_default=False,
    ),
]
LogOption = Annotated[
    Literal["console", "json"] | None,
    typer.Option("--log-format", help="Lines for people or for programs.", show_default=False),
]


def serve_command(
    host: HostOption = None,
    port: PortOption = None,
    root_path: RootPathOption = None,
    database_url: DatabaseOption = None,
    public_host: PublicHostOption = None,
    trusted_proxy: ProxyOption = None,
    log_format: LogOption = None,
    master_key_file: MasterKeyOption = None,
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Serve the workspace over HTTP until Ctrl-C or SIGTERM.

    \b
    corpus2skill serve
    corpus2skill serve --port 9000 --json
    corpus2skill serve --host 0.0.0.0 --public-host docs.example.jp --trusted-proxy 10.0.0.2
    """
    require_server()
    out = process_output(is_json=json)
    home = workspace_path(None if workspace is None else str(workspace), os.environ)
    settings = load_server_settings(
        {
            "host": host,
            "port": port,
            "root_path": root_path,
            "database_url": database_url,
            "public_hosts": tuple(public_host) if public_host else None,
            "trusted_proxies": tuple(trusted_proxy) if trusted_proxy else None,
            "log_format": log_format,
            "master_key_file": None if master_key_file is None else str(master_key_file.absolute()),
        },
        os.environ,
    )
    _serve(out, home, settings)
    return exit_codes.OK


def require_server() -> None:
    """Raises: InvalidInput: the extra was not installed."""
    for package in _PACKAGES:
        if find_spec(package) is None:
            raise InvalidInput("server_not_installed", package=package)


def _serve(out: Output, home: Path, settings: ServerSettings) -> None:
    """Check what can be checked before anything is begun, then serve."""
    from corpus2skill.application.server.links import check_accounts, own_address
    from corpus2skill.application.server_wiring import checked_database_url, hold_server, open_server
    from corpus2skill.entrypoints.http.serving import listening_socket, serve
    from corpus2skill.entrypoints.logs import configure_logs

    settings = replace(settings, database_url=checked_database_url(settings.database_url))
    with listening_socket(settings) as listening:
        settings = replace(settings, port=listening.getsockname()[1])
        with hold_server(home, settings, own_address(settings)):
            server = open_server(home, settings, has_children=True)
            server.check_database()
            if not settings.is_on_loopback:
                check_accounts(server)
            server.vault.check()
            configure_logs(settings.log_format)
            serve(server, listening, _teller(out, server))


def _teller(out: Output, server: Server) -> Callable[[], None]:
    """What is told once the server answers: its address and, for the owner of a new one, the way in."""
    from corpus2skill.application.server.links import first_sign_in_link, own_address

    def tell() -> None:
        address = own_address(server.server_settings)
        link = first_sign_in_link(server) if server.server_settings.is_on_loopback else None
        sign_in = None if link is None else f"{address}{link}"
        if out.is_json:
            out.raw(json.dumps({"url": address, "pid": os.getpid(), "sign_in_url": sign_in}) + "\n")
            return
        out.answer(address)
        if sign_in is not None:
            out.note(out.say("cli.serve.sign_in", url=sign_in))
        out.note(out.say("cli.serve.stop"))

    return tell
