"""How people come in: links that work once, and the sessions of their browsers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from corpus2skill.domain.people import Role

LinkKind = Literal["sign_in", "invitation", "reset"]
"""What whoever has the link may do, once: sign in, become a member, choose a new password."""
LINK_KINDS: tuple[LinkKind, ...] = get_args(LinkKind)

LINK_SECONDS: dict[LinkKind, int] = {"sign_in": 15 * 60, "invitation": 7 * 86_400, "reset": 86_400}
"""How long a link lives."""
IDLE_SECONDS = 14 * 86_400
"""A session ends when it was not used for so long."""
SESSION_SECONDS = 90 * 86_400
"""A session ends, however much it is used."""
AGENT_LIMIT = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class OneTimeLink:
    """A link as it is kept: its secret was shown once and is known to nobody."""

    link: str
    """Its id, `link_...`."""
    kind: LinkKind
    tenant: str
    name: str
    """Of the person it is for; somebody invited may choose another."""
    created_at: str
    created_by: str
    expires_at: str
    person: str | None = None
    """Id of the person; None in an invitation."""
    role: Role | None = None
    """What an invitation makes of them."""
    used_at: str | None = None
    revoked_at: str | None = None

    def is_alive(self, now: str) -> bool:
        return self.used_at is None and self.revoked_at is None and now < self.expires_at


@dataclass(frozen=True, slots=True, kw_only=True)
class WebSession:
    """A browser that is signed in. Its cookie is known to nobody else: only the digest is kept."""

    session: str
    """Its id, `signin_...`."""
    tenant: str
    """Of those that the person belongs to, the one that is looked at."""
    person: str
    created_at: str
    seen_at: str
    """To the minute."""
    expires_at: str
    """When it ends, however much it is used."""
    agent: str = ""
    """What the browser calls itself."""
