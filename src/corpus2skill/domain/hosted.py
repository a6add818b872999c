"""Conversations and runs as a server has them: whose they are and who works on them. Nothing that is said."""

from __future__ import annotations

from dataclasses import dataclass

from corpus2skill.domain.session import Channel, Door


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Who asks: a signed-in person or the bearer of a token, and, for a program, whom it asks for."""

    tenant: str
    actor: str
    """Id of the person or token."""
    end_user: str | None = None
    """As the program names them; None: itself, or all of its end users."""

    @property
    def user(self) -> str | None:
        """Whom records name as the one who asked: a person, never a program."""
        if self.end_user is not None:
            return self.end_user
        return self.actor if self.actor.startswith("user_") else None


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedSession:
    """A conversation with one corpus on one channel, begun by one asker and open to nobody else."""

    session: str
    """`session_...`"""
    tenant: str
    corpus: str
    channel: Channel
    actor: str
    end_user: str | None
    created_at: str
    """RFC 3339 in UTC with milliseconds."""
    asked_at: str | None = None
    """When it was last asked something."""

    def belongs_to(self, asker: Asker) -> bool:
        """True for the one who began it. A program that names nobody acts for all of its end users."""
        is_same = (self.tenant, self.actor) == (asker.tenant, asker.actor)
        return is_same and asker.end_user in (None, self.end_user)


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedRun:
    """A run that a server took on. `owner` is the process that works on it, or did."""

    run: str
    tenant: str
    session: str
    corpus: str
    channel: Channel
    door: Door
    actor: str
    end_user: str | None
    asked_at: str
    """RFC 3339 in UTC with milliseconds."""
    owner: str
    lease_until: float
    """Seconds since 1970; after that its owner counts as dead."""
    finished_at: str | None = None
    """Set once its record is written and its end told."""
