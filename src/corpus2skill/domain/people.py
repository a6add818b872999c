"""Who acts, for whom, and what they may do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from corpus2skill.errors import NotAllowed

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

    def require(self, scope: Scope) -> None:
        """Raises: NotAllowed: `scope` is not among what this one may do."""
        if scope not in self.scopes:
            raise NotAllowed(scope=scope)
