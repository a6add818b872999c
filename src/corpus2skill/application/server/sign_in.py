"""Who is asking: the bearer of a token, or somebody whose browser is signed in."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.api_token import TOKEN_PREFIX, ApiToken, token_digest
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.people import SCOPES_OF, Member, Principal, Scope
from corpus2skill.domain.sign_in import AGENT_LIMIT, IDLE_SECONDS, SESSION_SECONDS, WebSession
from corpus2skill.errors import Corpus2SkillError, InvalidInput, NotAllowed, NotSignedIn

_log = logging.getLogger(__name__)

_BEGINNING = len(TOKEN_PREFIX) + 4
_TO_THE_MINUTE = len("2026-04-01T09:30")


def bearer(server: Server, secret: str) -> Principal:
    """Return the one who holds this token.

    Raises:
        NotSignedIn: there is no such token, or it was revoked or has run out.
    """
    token = server.tokens.by_digest(token_digest(secret))
    now = moment_of(server.clock.now())
    if (
        token is None
        or token.revoked_at is not None
        or (token.expires_at is not None and token.expires_at <= now)
    ):
        raise NotSignedIn
    _note_use(server.tokens.touch, token.token, token.last_used_at, now)
    return Principal(tenant=token.tenant, actor=token.token, name=token.name, scopes=token.scopes)


def signed_in(server: Server, secret: str) -> Principal:
    """Return the person whose browser has this cookie, with what their role in the tenant allows now.

    Raises:
        NotSignedIn: there is no such session, it is over, or the person does not belong there any more.
    """
    session = server.web_sessions.by_digest(token_digest(secret))
    now = server.clock.now()
    if session is None or is_over(session, now):
        raise NotSignedIn
    member = server.people.member(session.tenant, session.person)
    if member is None:
        raise NotSignedIn
    _note_use(server.web_sessions.touch, session.session, session.seen_at, moment_of(now))
    return Principal(
        tenant=session.tenant,
        actor=session.person,
        name=member.person.name,
        scopes=SCOPES_OF[member.role],
        sign_in=session.session,
    )


def is_over(session: WebSession, now: datetime) -> bool:
    idle_since = moment_of(now - timedelta(seconds=IDLE_SECONDS))
    return session.expires_at <= moment_of(now) or session.seen_at <= idle_since


def begin_session(server: Server, member: Member, agent: str, how: str) -> tuple[WebSession, str]:
    """Sign a person's browser in; return the session with the secret for its cookie, never to be had again."""
    secret = secrets.token_urlsafe(32)
    now = server.clock.now()
    session = WebSession(
        session=server.ids.new("signin"),
        tenant=member.tenant,
        person=member.person.person,
        created_at=moment_of(now),
        seen_at=moment_of(now),
        expires_at=moment_of(now + timedelta(seconds=SESSION_SECONDS)),
        agent="".join(filter(str.isprintable, agent))[:AGENT_LIMIT],
    )
    server.web_sessions.add(session, token_digest(secret))
    person = member.person
    server.audit.note(
        member.tenant, person.person, "sign_in.done", session.session, name=person.name, how=how
    )
    return session, secret


def new_token(
    server: Server, tenant: str, name: str, scopes: Iterable[Scope], by: str, expires_at: str | None = None
) -> tuple[ApiToken, str]:
    """Make a token and return it with its secret, which is never to be had again.

    Raises:
        Conflict: the tenant has a living token of this name.
        InvalidInput: it would have run out already.
    """
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    now = moment_of(server.clock.now())
    if expires_at is not None and expires_at <= now:
        raise InvalidInput("already_over", time=expires_at)
    token = ApiToken(
        token=server.ids.new("token"),
        tenant=tenant,
        name=name,
        scopes=frozenset(scopes),
        beginning=secret[:_BEGINNING],
        created_at=now,
        created_by=by,
        expires_at=expires_at,
    )
    server.tokens.add(token, token_digest(secret))
    server.audit.note(tenant, by, "token.created", token.token, name=name, scopes=" ".join(sorted(scopes)))
    return token, secret


def check_own(principal: Principal, scopes: Iterable[Scope]) -> None:
    """Raises: NotAllowed: nobody can give what they do not have."""
    beyond = sorted(set(scopes) - principal.scopes)
    if beyond:
        raise NotAllowed("beyond_own_scopes", scopes=", ".join(beyond))


def revoke_token(server: Server, tenant: str, token: str, by: str) -> ApiToken:
    """Revoke a token at once and for good.

    Raises:
        ThingNotFound: the tenant has no such token.
    """
    revoked = server.tokens.revoke(tenant, token, moment_of(server.clock.now()))
    server.audit.note(tenant, by, "token.revoked", token, name=revoked.name)
    return revoked


def _note_use(touch: Callable[[str, str], None], name: str, before: str | None, now: str) -> None:
    """Once a minute. That it cannot be noted keeps nobody out."""
    if before is not None and before[:_TO_THE_MINUTE] == now[:_TO_THE_MINUTE]:
        return
    try:
        touch(name, f"{now[:_TO_THE_MINUTE]}:00.000Z")
    except Corpus2SkillError:
        _log.warning("the use of %s could not be noted", name, exc_info=True)
