"""`/v1/events`: what happens to several things in one stream."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.responses import Response

from corpus2skill.application.server.topics import WatchedTopic, parse_topics, require_topic
from corpus2skill.entrypoints.http.caller import Caller, TheServer
from corpus2skill.entrypoints.http.event_stream import STREAM_ANSWERS, Watching
from corpus2skill.entrypoints.http.the_runs import EndUser

router = APIRouter(prefix="/events", tags=["events"])


@router.get("", response_class=Response, responses=STREAM_ANSWERS)
def watch_topics(
    topics: Annotated[
        list[str],
        Query(
            min_length=1,
            max_length=50,
            description="`run:ID`, `job:ID` or `documents:CORPUS`, each with `@N` behind it to begin behind event N.",
        ),
    ],
    principal: Caller,
    server: TheServer,
    watching: Watching,
    end_user: EndUser = None,
) -> Response:
    """Watch up to 50 runs, jobs and corpora over one connection, which all tabs of a browser may share.

    Each event is `{"topic": ..., "id": ..., "event": ..., "data": ...}` in `data`: `id` and `event` as in the
    stream of the one thing. The stream's own ids tell where it is in each topic, so that `Last-Event-ID` goes on
    in all of them. It ends when all have ended.
    """
    wanted: tuple[WatchedTopic, ...] = parse_topics(topics)
    names = [require_topic(server, principal, end_user, topic.name) for topic in wanted]
    return watching.streams(principal.tenant, names, [topic.after for topic in wanted])
