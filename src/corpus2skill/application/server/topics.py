"""Which topics somebody may watch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from corpus2skill.application.server.conversations import visible_run, watchable
from corpus2skill.application.server.corpora import require_corpus
from corpus2skill.application.server_wiring import Server
from corpus2skill.domain.people import Principal
from corpus2skill.errors import InvalidInput, ThingNotFound

_MOST_DIGITS = 15


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedTopic:
    name: str
    after: int
    """Number of the last event that is known already."""


def parse_topics(texts: Sequence[str]) -> tuple[WatchedTopic, ...]:
    """Read `name` or `name@number`, the first of each name.

    Raises:
        InvalidInput: what stands behind the at sign is no number.
    """
    topics: dict[str, WatchedTopic] = {}
    for text in texts:
        name, _, number = text.partition("@")
        if number and not (number.isascii() and number.isdecimal() and len(number) <= _MOST_DIGITS):
            raise InvalidInput("bad_topic", topic=text[:200])
        topics.setdefault(name, WatchedTopic(name=name, after=int(number or 0)))
    return tuple(topics.values())


def require_topic(server: Server, principal: Principal, end_user: str | None, name: str) -> str:
    """Return the topic's name, where there is something of that name that `principal` may see.

    Raises:
        NotAllowed, ThingNotFound, CorpusNotFound.
    """
    kind, _, of = name.partition(":")
    if kind == "run":
        return watchable(server, visible_run(server, principal, end_user, of))
    principal.require("read")
    if kind == "documents":
        require_corpus(server, principal.tenant, of)
    elif kind not in ("job", "test-run") or not server.events.newest([(principal.tenant, name)]):
        raise ThingNotFound("topic", name)
    return name
