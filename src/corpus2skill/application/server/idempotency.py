"""A request that is repeated under the same key does nothing twice and is answered the same."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import logging
import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.people import Principal
from corpus2skill.errors import Conflict, Corpus2SkillError, InvalidInput
from corpus2skill.ports.kept_answers import Asked

_log = logging.getLogger(__name__)

KEPT = timedelta(hours=24)
STALE = timedelta(minutes=2)
"""After that a request that has not ended is taken for dead with its process."""
_MOST_CHARACTERS = 255
_NONCE = 12
_FORGET_SECONDS = 3_600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeatable:
    """A request with a key. What is kept of its answer can be read with the caller's credential alone."""

    asked: Asked
    seal: bytes


def repeatable(principal: Principal, route: str, key: str, body: bytes, credential: str) -> Repeatable:
    """Name a request.

    Raises:
        InvalidInput: `key` is no key.
    """
    if not 0 < len(key) <= _MOST_CHARACTERS or not key.isascii() or not key.isprintable():
        raise InvalidInput("idempotency_key", most=_MOST_CHARACTERS)
    asked = Asked(
        tenant=principal.tenant,
        actor=principal.actor,
        route=route,
        key=hashlib.sha256(key.encode("ascii")).hexdigest(),
        body=hashlib.sha256(body).hexdigest(),
    )
    seal = hashlib.sha256(f"corpus2skill answer\n{key}\n{credential}".encode("utf-8", "surrogateescape"))
    return Repeatable(asked=asked, seal=seal.digest())


def begin(server: Server, request: Repeatable) -> Answer | None:
    """Return the answer that was given before, or None where the request is to be carried out now.

    Raises:
        Conflict: it is under way, or was made with a credential that the caller no longer has.
        InvalidInput: the key was used with another body.
    """
    now = server.clock.now()
    standing = server.kept_answers.begin(
        request.asked, moment_of(now), moment_of(now - STALE), moment_of(now - KEPT)
    )
    match standing:
        case "new":
            return None
        case "in_flight":
            raise Conflict("idempotency_in_flight")
        case "other_body":
            raise InvalidInput("idempotency_reused")
        case sealed:
            return _opened(request, sealed)


def keep(server: Server, request: Repeatable, answer: Answer) -> None:
    body = base64.b64encode(answer.body).decode("ascii")
    text = json.dumps({"status": answer.status, "headers": answer.headers, "body": body})
    nonce = secrets.token_bytes(_NONCE)
    sealed = nonce + AESGCM(request.seal).encrypt(nonce, text.encode("ascii"), None)
    server.kept_answers.keep(request.asked, base64.b64encode(sealed).decode("ascii"))


async def forget_old_answers(server: Server, stop: asyncio.Event) -> None:
    """The duty: forget, once an hour, what need not be answered the same any more."""
    while not stop.is_set():
        try:
            before = moment_of(server.clock.now() - KEPT)
            await asyncio.to_thread(server.kept_answers.forget_before, before)
        except Corpus2SkillError:
            _log.warning("old answers cannot be forgotten now; tried again", exc_info=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(_FORGET_SECONDS):
                await stop.wait()


def _opened(request: Repeatable, kept: str) -> Answer:
    sealed = base64.b64decode(kept)
    try:
        text = AESGCM(request.seal).decrypt(sealed[:_NONCE], sealed[_NONCE:], None)
    except InvalidTag as error:
        raise Conflict("idempotency_sealed") from error
    found = json.loads(text)
    return Answer(status=found["status"], headers=found["headers"], body=base64.b64decode(found["body"]))
