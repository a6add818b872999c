"""The options that say which records are meant, for every command that reads many."""

from __future__ import annotations

from typing import Annotated

import typer

from corpus2skill.domain.run import Outcome
from corpus2skill.domain.session import Channel, Door

CorpusFilter = Annotated[
    str | None, typer.Option("--corpus", "-c", metavar="NAME", help="Of this corpus.", show_default=False)
]
VersionFilter = Annotated[
    int | None,
    typer.Option("--at", metavar="VERSION", min=1, help="On this version.", show_default=False),
]
SessionFilter = Annotated[
    str | None,
    typer.Option("--session", "-s", metavar="ID", help="Of this conversation.", show_default=False),
]
UserFilter = Annotated[
    str | None, typer.Option("--user", "-u", metavar="ID", help="Of this person.", show_default=False)
]
OutcomeFilter = Annotated[
    Outcome | None, typer.Option("--outcome", help="That ended this way.", show_default=False)
]
ChannelFilter = Annotated[
    Channel | None, typer.Option("--channel", help="By text or by voice.", show_default=False)
]
DoorFilter = Annotated[Door | None, typer.Option("--door", help="That came in this way.", show_default=False)]
ModelFilter = Annotated[
    str | None,
    typer.Option("--model", metavar="NAME", help="Answered by this model.", show_default=False),
]
SinceFilter = Annotated[
    str | None,
    typer.Option(
        "--since",
        metavar="TIME",
        help="Begun on this date or later, as 2026-04-01; or at a time. UTC, unless an offset is given.",
        show_default=False,
    ),
]
UntilFilter = Annotated[
    str | None,
    typer.Option(
        "--until", metavar="TIME", help="Begun on this date or earlier; or before a time.", show_default=False
    ),
]
DoubtfulFilter = Annotated[
    bool,
    typer.Option(
        "--doubtful",
        help="Whose answer quotes what stands in no document read, or named one that was not read.",
    ),
]
LimitFilter = Annotated[
    int | None,
    typer.Option(
        "--limit",
        "-n",
        metavar="N",
        min=1,
        help="So many; else 20, an export all of them.",
        show_default=False,
    ),
]
TenantOption = Annotated[
    str, typer.Option("--tenant", metavar="NAME", help="Whose records; `eval` keeps its own in `evaluation`.")
]
