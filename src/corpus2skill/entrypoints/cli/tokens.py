"""`tokens`: what programs sign in to a server with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from corpus2skill.domain.people import SCOPES, Scope
from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.options import JsonOption, WorkspaceOption
from corpus2skill.entrypoints.cli.output import columns
from corpus2skill.entrypoints.cli.server_desk import TenantNameOption, open_server_desk
from corpus2skill.errors import InvalidInput

if TYPE_CHECKING:
    from corpus2skill.domain.api_token import ApiToken

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)


@app.callback()
def show_command(
    ctx: typer.Context,
    tenant: TenantNameOption = "local",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """List, make and revoke API tokens of the server here.

    \b
    corpus2skill tokens list
    corpus2skill tokens add website --scope ask
    """
    if ctx.invoked_subcommand is not None:
        return exit_codes.OK
    return list_command(tenant, workspace, json)


@app.command("list")
def list_command(
    tenant: TenantNameOption = "local", workspace: WorkspaceOption = None, json: JsonOption = False
) -> int:
    """List a tenant's tokens, revoked ones too.

    \b
    corpus2skill tokens list
    """
    from corpus2skill.application.server.members import known_tenant

    desk = open_server_desk(workspace, is_json=json)
    tokens = desk.server.tokens.tokens(known_tenant(desk.server, tenant))
    if json:
        desk.out.document([_document(token) for token in tokens])
        return exit_codes.OK
    rows = [
        (token.token, token.name, " ".join(sorted(token.scopes)), desk.out.say(_state(token)))
        for token in tokens
    ]
    for row in columns(rows) if rows else ():
        desk.out.answer(row)
    if not rows:
        desk.out.note(desk.out.say("cli.tokens.none", tenant=tenant))
    return exit_codes.OK


@app.command("add")
def add_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What it is for.")],
    scope: Annotated[
        list[str] | None,
        typer.Option(
            "--scope",
            metavar="SCOPE",
            help="read, ask, records, write or admin; several times (default: read, ask).",
            show_default=False,
        ),
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option("--expires", metavar="TIME", help="Until when, as 2027-04-01.", show_default=False),
    ] = None,
    tenant: TenantNameOption = "local",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Make a token; it is printed once.

    \b
    corpus2skill tokens add website --scope ask --scope read
    corpus2skill tokens add nightly --scope write --expires 2027-04-01
    """
    from corpus2skill.application.server.members import known_tenant
    from corpus2skill.application.server.sign_in import new_token
    from corpus2skill.application.show_records import moment
    from corpus2skill.domain.people import person_name

    desk = open_server_desk(workspace, is_json=json)
    token, secret = new_token(
        desk.server,
        known_tenant(desk.server, tenant),
        person_name(name),
        _scopes(scope or ("read", "ask")),
        desk.actor,
        None if expires is None else moment(expires),
    )
    if json:
        desk.out.document({**_document(token), "secret": secret})
        return exit_codes.OK
    desk.out.answer(secret)
    desk.out.note(desk.out.say("cli.tokens.once", token=token.token))
    return exit_codes.OK


@app.command("revoke")
def revoke_command(
    token: Annotated[str, typer.Argument(metavar="TOKEN", help="Its id, as `tokens list` shows it.")],
    tenant: TenantNameOption = "local",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Revoke a token at once and for good.

    \b
    corpus2skill tokens revoke token_01m8q6v7fcayk3c5q0ksq4dnef
    """
    from corpus2skill.application.server.sign_in import revoke_token

    desk = open_server_desk(workspace, is_json=json)
    revoked = revoke_token(desk.server, tenant, token, desk.actor)
    if json:
        desk.out.document(_document(revoked))
    else:
        desk.out.answer(desk.out.say("cli.tokens.revoked", name=revoked.name))
    return exit_codes.OK


def _scopes(names: Iterable[str]) -> list[Scope]:
    """Raises: InvalidInput: one of them is no scope."""
    known: dict[str, Scope] = {scope: scope for scope in SCOPES}
    unknown = [name for name in names if name not in known]
    if unknown:
        raise InvalidInput("no_such_scope", name=unknown[0], known=", ".join(SCOPES))
    return [known[name] for name in names]


def _state(token: ApiToken) -> str:
    return "cli.tokens.is_alive" if token.revoked_at is None else "cli.tokens.is_revoked"


def _document(token: ApiToken) -> dict[str, object]:
    return {
        "token_id": token.token,
        "name": token.name,
        "scopes": sorted(token.scopes),
        "beginning": token.beginning,
        "created_at": token.created_at,
        "created_by": token.created_by,
        "expires_at": token.expires_at,
        "revoked_at": token.revoked_at,
        "last_used_at": token.last_used_at,
    }
