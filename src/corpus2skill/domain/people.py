"""Who acts, for whom, and what they may do."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import Literal, get_args

from corpus2skill.domain.language import Language
from corpus2skill.errors import InvalidInput, NotAllowed

Scope = Literal["read", "ask", "records", "write", "admin"]
"""What one may do: `read` corpora, documents, versions and jobs; `ask` questions; see and judge the `records`
of everybody's conversations; `write` documents, jobs, versions and tests; `admin`ister members, keys, tokens,
limits, retention and webhooks."""
SCOPES: tuple[Scope, ...] = get_args(Scope)

Role = Literal["viewer", "reviewer", "editor", "owner"]
"""Of a person in a tenant; each may do what the one before may."""
ROLES: tuple[Role, ...] = get_args(Role)

SCOPES_OF: dict[Role, frozenset[Scope]] = {
    "viewer": frozenset(("read", "ask")),
    "reviewer": frozenset(("read", "ask", "records")),
    "editor": frozenset(("read", "ask", "records", "write")),
    "owner": frozenset(SCOPES),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """The one who makes a request: a signed-in person or the bearer of an API token."""

    tenant: str
    actor: str
    """Id of the person (`user_...`) or of the token (`token_...`): what the operators' log names."""
    name: str
    """For people to read: the person's or the token's name."""
    scopes: frozenset[Scope]
    sign_in: str | None = None
    """Id of the web session of a person in a browser; None for a token."""

    @property
    def person(self) -> str:
        """Id of the person.

        Raises:
            NotAllowed: it is a program.
        """
        if self.sign_in is None:
            raise NotAllowed("people_only")
        return self.actor

    def require(self, scope: Scope) -> None:
        """Raises: NotAllowed: `scope` is not among what this one may do."""
        if scope not in self.scopes:
            raise NotAllowed(scope=scope)


NAME_LIMIT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Tenant:
    """A customer of the server, apart from all others."""

    tenant: str
    """Its name, which is also that of its folder: as `domain.ids.is_corpus_name` has it."""
    created_at: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody who signs in. One person may belong to several tenants."""

    person: str
    """Id, `user_...`."""
    name: str
    """What they sign in with, and what others see; unique on the server, whatever its case and width."""
    created_at: str
    language: Language | None = None
    """Of their pages; None: as the browser says."""
    has_password: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A person in a tenant."""

    tenant: str
    person: Person
    role: Role
    since: str


def person_name(text: str) -> str:
    """Return a name as it is kept.

    Raises:
        InvalidInput: it is empty, too long, or has characters that nobody sees.
    """
    name = " ".join(unicodedata.normalize("NFC", text).split())
    if not 0 < len(name) <= NAME_LIMIT or any(unicodedata.category(letter)[0] == "C" for letter in name):
        raise InvalidInput("name_unusable", most=NAME_LIMIT)
    return name


def name_key(name: str) -> str:
    """What is the same for names that people take for the same."""
    return " ".join(unicodedata.normalize("NFKC", name).casefold().split())
