"""What is to be told to customers' systems, in the server's database until it is delivered."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping

from sqlalchemy import Column, String, Table, Text, insert

from corpus2skill.adapters.store.database import Database
from corpus2skill.adapters.store.state.tables import METADATA
from corpus2skill.domain.moments import moment_of
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.ports.clock import Clock, Ids

_log = logging.getLogger(__name__)

ANNOUNCEMENTS = Table(
    "announcements",
    METADATA,
    Column("tenant", String, primary_key=True),
    Column("announcement", String, primary_key=True),
    Column("kind", String, nullable=False),
    Column("at", String, nullable=False),
    Column("payload", Text, nullable=False),  # JSON
)


class SqlAnnouncer:
    """`ports.announcements.Announcer`: an outbox."""

    def __init__(self, database: Database, clock: Clock, ids: Ids) -> None:
        self._database = database
        self._clock = clock
        self._ids = ids

    def announce(self, tenant: str, kind: str, payload: Mapping[str, object]) -> None:
        row = {
            "tenant": tenant,
            "announcement": self._ids.new("msg"),
            "kind": kind,
            "at": moment_of(self._clock.now()),
            "payload": json.dumps(payload, ensure_ascii=True),
        }
        try:
            self._database.write(lambda connection: connection.execute(insert(ANNOUNCEMENTS).values(row)))
        except (
            Corpus2SkillError
        ):  # whoever announces has done its work; that nobody hears of it undoes nothing
            _log.warning("an announcement was lost: %s", kind, exc_info=True)
