"""Tenants, people, and who belongs where."""

from __future__ import annotations

from typing import Protocol

from corpus2skill.domain.people import Member, Person, Role, Tenant
from corpus2skill.domain.sign_in import OneTimeLink


class TenantStore(Protocol):
    def tenants(self) -> tuple[Tenant, ...]:
        """Those that were added, by name; the local one needs no adding and is not among them."""
        ...

    def add(self, tenant: Tenant) -> None:
        """Raises: Conflict: there is one of this name."""
        ...


class PeopleStore(Protocol):
    """Each method is one step: of two that ask for what only one can have, one has it."""

    def by_name(self, name: str) -> Person | None:
        """The person of this name, whatever its case and width; None where there is none."""
        ...

    def person(self, person: str) -> Person | None:
        """The person of this id."""
        ...

    def member(self, tenant: str, person: str) -> Member | None:
        """None where the person does not belong to the tenant, or is nobody."""
        ...

    def members(self, tenant: str) -> tuple[Member, ...]:
        """Oldest first."""
        ...

    def tenants_of(self, person: str) -> tuple[Member, ...]:
        """Where a person belongs, by name of the tenant."""
        ...

    def first_owner(self, newcomer: Member) -> Member:
        """The tenant's first owner; where it has none, `newcomer` becomes it, under a name that is free."""
        ...

    def add(self, newcomer: Member, password: str | None) -> None:
        """Add a new person, as a member of a first tenant; `password` as it is kept.

        Raises:
            Conflict: the name is another's.
        """
        ...

    def join(self, member: Member) -> None:
        """Add a person who is there to another tenant.

        Raises:
            Conflict: they are a member of it.
        """
        ...

    def accept(self, digest: str, now: str, member: Member, password: str | None) -> OneTimeLink:
        """Use up an invitation: `member` joins its tenant; with a `password` it is a new person.

        Tenant and role are those of the invitation, whatever `member` says.

        Raises:
            NotFound: there is no such invitation, or it is used, revoked or run out.
            Conflict: the name is another's, or they are a member already; the invitation is not used up.
        """
        ...

    def change_role(self, tenant: str, person: str, role: Role) -> Member:
        """Raises: ThingNotFound: no such member. Conflict: it is the last owner."""
        ...

    def remove(self, tenant: str, person: str) -> Member:
        """Take a member out; who belongs nowhere any more is forgotten, with password and sign-ins.

        Raises:
            ThingNotFound: no such member.
            Conflict: it is the last owner.
        """
        ...

    def password(self, person: str) -> str | None:
        """The password as it is kept; None where there is none."""
        ...

    def keep_password(self, person: str, password: str) -> None:
        """Replace the password, as it is kept. Nothing happens for nobody."""
        ...

    def keep_language(self, person: str, language: str | None) -> None:
        """Note the language of a person's pages."""
        ...

    def has_owner_with_password(self) -> bool:
        """True where an owner of any tenant can sign in with a password."""
        ...
