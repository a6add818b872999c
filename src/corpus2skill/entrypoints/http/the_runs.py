"""What the routes of conversations need beside the server: the runs of this process, and for whom is asked."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Query, Request
from pydantic import StringConstraints

from corpus2skill.application.server.runs import RunHost


def the_runs(request: Request) -> RunHost:
    runs = request.app.state.runs
    assert isinstance(runs, RunHost)
    return runs


Runs = Annotated[RunHost, Depends(the_runs)]
EndUserId = Annotated[
    str, StringConstraints(min_length=1, max_length=200, pattern=r"^[^\x00-\x1f]*\S[^\x00-\x1f]*$")
]
EndUser = Annotated[
    EndUserId | None,
    Query(description="For whom a program asks: only what belongs to this end user is found."),
]
