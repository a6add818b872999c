"""`people` and `sign-in-link`: who may sign in to a server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from corpus2skill.domain.people import Role
from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.options import JsonOption, WorkspaceOption
from corpus2skill.entrypoints.cli.output import columns
from corpus2skill.entrypoints.cli.server_desk import (
    AddressOption,
    ServerDesk,
    TenantNameOption,
    new_password,
    open_server_desk,
)

if TYPE_CHECKING:
    from corpus2skill.domain.people import Member

app = typer.Typer(invoke_without_command=True, rich_markup_mode=None)

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The person's name (or id).")]
LinkOption = Annotated[
    bool, typer.Option("--link", help="Print a link under which they choose their password themselves.")
]


@app.callback()
def show_command(
    ctx: typer.Context,
    tenant: TenantNameOption = "local",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """List and change who may sign in to the server here.

    \b
    corpus2skill people list
    corpus2skill people add Tanaka --role owner
    """
    if ctx.invoked_subcommand is not None:
        return exit_codes.OK
    return list_command(tenant, workspace, json)


@app.command("list")
def list_command(
    tenant: TenantNameOption = "local", workspace: WorkspaceOption = None, json: JsonOption = False
) -> int:
    """List the people of a tenant.

    \b
    corpus2skill people list
    """
    from corpus2skill.application.server.members import known_tenant

    desk = open_server_desk(workspace, is_json=json)
    members = desk.server.people.members(known_tenant(desk.server, tenant))
    if json:
        desk.out.document([_document(member) for member in members])
        return exit_codes.OK
    say = desk.out.say
    rows = [
        (
            member.person.name,
            member.role,
            member.since,
            say("cli.people.with_password" if member.person.has_password else "cli.people.no_password"),
        )
        for member in members
    ]
    for row in columns(rows) if rows else ():
        desk.out.answer(row)
    if not rows:
        desk.out.note(say("cli.people.none", tenant=tenant))
    return exit_codes.OK


@app.command("add")
def add_command(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What they sign in with.")],
    role: Annotated[Role, typer.Option("--role", help="What they may do.")] = "viewer",
    link: LinkOption = False,
    address: AddressOption = None,
    tenant: TenantNameOption = "local",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Add a person, or somebody who is known here to another tenant.

    \b
    corpus2skill people add Tanaka --role owner
    corpus2skill people add Sato --role editor --link
    corpus2skill people add Tanaka --role viewer --tenant acme

    The password is asked for, or read as one line from standard input. With --link an invitation is printed.
    """
    from corpus2skill.application.server import members, passwords
    from corpus2skill.application.server.links import invite

    desk = open_server_desk(workspace, is_json=json)
    members.known_tenant(desk.server, tenant)
    if link:
        invitation, path = invite(desk.server, tenant, name, role, desk.actor)
        return _show_link(desk, desk.url(path, address), invitation.expires_at)
    member = members.newcomer(desk.server, tenant, name, role)
    known = desk.server.people.by_name(member.person.name)
    if known is not None:
        members.join(desk.server, tenant, known, role, desk.actor)
    else:
        passwords.add_person(desk.server, member, new_password(desk.out), desk.actor)
    return _show_done(desk, members.member_named(desk.server, tenant, member.person.name), "cli.people.added")


@app.command("role")
def role_command(
    name: NameArgument,
    role: Annotated[Role, typer.Argument(metavar="ROLE", help="viewer, reviewer, editor or owner.")],
    tenant: TenantNameOption = "local",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Give a person another role.

    \b
    corpus2skill people role Tanaka editor
    """
    from corpus2skill.application.server import members

    desk = open_server_desk(workspace, is_json=json)
    member = members.member_named(desk.server, tenant, name)
    changed = members.change_role(desk.server, tenant, member.person.person, role, desk.actor)
    return _show_done(desk, changed, "cli.people.role")


@app.command("reset")
def reset_command(
    name: NameArgument,
    link: LinkOption = False,
    address: AddressOption = None,
    tenant: TenantNameOption = "local",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Give a person a new password; their browsers are signed out.

    \b
    corpus2skill people reset Tanaka
    corpus2skill people reset Tanaka --link
    """
    from corpus2skill.application.server import members, passwords
    from corpus2skill.application.server.links import reset_link

    desk = open_server_desk(workspace, is_json=json)
    member = members.member_named(desk.server, tenant, name)
    if link:
        made, path = reset_link(desk.server, member, desk.actor)
        return _show_link(desk, desk.url(path, address), made.expires_at)
    passwords.set_password(desk.server, member, new_password(desk.out), desk.actor)
    return _show_done(desk, member, "cli.people.reset")


@app.command("remove")
def remove_command(
    name: NameArgument,
    tenant: TenantNameOption = "local",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Take a person out of a tenant; the last owner stays.

    \b
    corpus2skill people remove Tanaka
    """
    from corpus2skill.application.server import members

    desk = open_server_desk(workspace, is_json=json)
    member = members.member_named(desk.server, tenant, name)
    removed = members.remove(desk.server, tenant, member.person.person, desk.actor)
    return _show_done(desk, removed, "cli.people.removed")


def sign_in_link_command(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="Whom it signs in; else the first owner.", show_default=False),
    ] = None,
    address: AddressOption = None,
    tenant: TenantNameOption = "local",
    workspace: WorkspaceOption = None,
    json: JsonOption = False,
) -> int:
    """Print a link that signs a browser in, once, within 15 minutes.

    \b
    corpus2skill sign-in-link
    """
    from corpus2skill.application.server.links import owner_of, sign_in_link
    from corpus2skill.application.server.members import known_tenant, member_named

    desk = open_server_desk(workspace, is_json=json)
    known_tenant(desk.server, tenant)
    member = owner_of(desk.server, tenant) if name is None else member_named(desk.server, tenant, name)
    link, path = sign_in_link(desk.server, member, desk.actor)
    return _show_link(desk, desk.url(path, address), link.expires_at)


def _show_link(desk: ServerDesk, url: str, expires_at: str) -> int:
    if desk.out.is_json:
        desk.out.document({"url": url, "expires_at": expires_at})
        return exit_codes.OK
    desk.out.answer(url)
    desk.out.note(desk.out.say("cli.link_once", expires=expires_at))
    return exit_codes.OK


def _show_done(desk: ServerDesk, member: Member, key: str) -> int:
    if desk.out.is_json:
        desk.out.document(_document(member))
    else:
        values = {"name": member.person.name, "role": member.role, "tenant": member.tenant}
        desk.out.answer(desk.out.say(key, **values))
    return exit_codes.OK


def _document(member: Member) -> dict[str, object]:
    return {
        "person_id": member.person.person,
        "name": member.person.name,
        "tenant": member.tenant,
        "role": member.role,
        "since": member.since,
        "has_password": member.person.has_password,
    }
