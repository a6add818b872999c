"""The browsers in which a person is signed in."""

from __future__ import annotations

from contextlib import suppress

from corpus2skill.application.server.sign_in import is_over
from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.api_token import token_digest
from corpus2skill.domain.people import Principal
from corpus2skill.domain.sign_in import WebSession
from corpus2skill.errors import ThingNotFound


def list_own(server: Server, principal: Principal) -> tuple[WebSession, ...]:
    """Oldest first, in all of the person's tenants, without those that are over.

    Raises:
        NotAllowed: it is a program.
    """
    now = server.clock.now()
    sessions = server.web_sessions.sessions(principal.person)
    return tuple(session for session in sessions if not is_over(session, now))


def end(server: Server, principal: Principal, session: str) -> None:
    """Sign one's own browser out, this one or another.

    Raises:
        NotAllowed: it is a program.
        ThingNotFound: no such browser is theirs.
    """
    server.web_sessions.end(principal.person, session)
    server.audit.note(principal.tenant, principal.actor, "sign_in.ended", session, name=principal.name)


def end_all(server: Server, principal: Principal, *, is_this_kept: bool) -> int:
    """Sign out everywhere; return how many browsers that were.

    Raises:
        NotAllowed: it is a program.
    """
    kept = principal.sign_in if is_this_kept else None
    ended = server.web_sessions.end_all(principal.person, but=kept)
    server.audit.note(
        principal.tenant,
        principal.actor,
        "sign_ins.ended",
        principal.person,
        name=principal.name,
        count=ended,
    )
    return ended


def forget(server: Server, secret: str) -> None:
    """End the session of a cookie that is about to be replaced; nothing happens where there is none."""
    session = server.web_sessions.by_digest(token_digest(secret))
    if session is not None:
        with suppress(ThingNotFound):
            server.web_sessions.end(session.person, session.session)
