"""Which records: the same filters for lists and exports."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Depends, Query

from corpus2skill.application.server_wiring import Server
from corpus2skill.application.show_records import moment, opened_records
from corpus2skill.domain.feedback import Feedback
from corpus2skill.domain.run import Outcome, RunRecord
from corpus2skill.domain.session import Channel, Door
from corpus2skill.errors import RecordNotFound, ThingNotFound
from corpus2skill.ports.store import RecordFilter

Name = Annotated[str | None, Query(max_length=200)]


class _Query:
    def __init__(
        self,
        corpus: Name = None,
        session_id: Name = None,
        outcome: Annotated[Outcome | None, Query()] = None,
        version: Annotated[int | None, Query(ge=0, le=2**53)] = None,
        end_user: Name = None,
        channel: Annotated[Channel | None, Query()] = None,
        door: Annotated[Door | None, Query()] = None,
        model: Name = None,
        since: Annotated[
            str | None, Query(max_length=40, description="Begun then or later: a date or a time (RFC 3339).")
        ] = None,
        until: Annotated[
            str | None,
            Query(max_length=40, description="Begun before that time, or on that date at the latest."),
        ] = None,
        is_doubtful: Annotated[
            bool | None, Query(description="The answer cites or quotes what the run did not read.")
        ] = None,
        rating: Annotated[Literal["helpful", "not_helpful"] | None, Query()] = None,
        has_comment: Annotated[bool | None, Query()] = None,
        visited: Annotated[
            str | None,
            Query(max_length=2_000, description="Path of a node that the run came to, or below it."),
        ] = None,
        cited: Annotated[
            str | None, Query(max_length=200, description="Doc id of a leaf that the answer cites.")
        ] = None,
    ) -> None:
        self._which = RecordFilter(
            corpus=corpus,
            session=session_id,
            outcome=outcome,
            version=version,
            user=end_user,
            channel=channel,
            door=door,
            model=model,
            since=None if since is None else moment(since),
            until=None if until is None else moment(until, is_end=True),
            is_doubtful=is_doubtful,
            is_helpful=None if rating is None else rating == "helpful",
            has_comment=has_comment,
            visited=visited,
            cited=cited,
        )

    def filter(self, *, before: str | None = None, limit: int | None = None) -> RecordFilter:
        """The records meant: of a list those behind `before`, and no more than `limit`."""
        return self._which.page(before, limit)


RecordQuery = Annotated[_Query, Depends()]


def kept_record(server: Server, tenant: str, run: str) -> tuple[RunRecord, Feedback | None]:
    """The record of this id, the whole of which is wanted, and what was said of its answer.

    Raises:
        ThingNotFound: there is none, or it was deleted.
    """
    with opened_records(server.workspace(tenant)) as records:
        try:
            record = records.record(tenant, run)
        except RecordNotFound:
            record = None
        if record is None or record.ids.run != run:
            raise ThingNotFound("record", run)
        return record, records.feedback(tenant, (run,)).get(run)
