"""Options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from corpus2skill.errors import InvalidInput
from corpus2skill.settings import MOST


def named_path(text: str) -> Path:
    """The path that an argument names.

    Raises:
        InvalidInput: it is empty, as an unset variable gives; that is not the current folder.
    """
    if not text:
        raise InvalidInput("empty_path")
    return Path(text)


WorkspaceOption = Annotated[
    Path | None,
    typer.Option(
        "--workspace",
        "-w",
        parser=named_path,
        metavar="FOLDER",
        help="The workspace folder; else CORPUS2SKILL_HOME, else .corpus2skill here.",
        show_default=False,
    ),
]
SessionOption = Annotated[
    str | None,
    typer.Option(
        "--session",
        "-s",
        metavar="ID",
        help="Go on with this conversation (its id or the beginning of it).",
        show_default=False,
    ),
]
UserOption = Annotated[
    str | None,
    typer.Option(
        "--user",
        metavar="ID",
        help="Who asks: kept in the record, so that one person's can be found and deleted.",
        show_default=False,
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Write one JSON document to standard output.")]
CorpusOption = Annotated[
    str | None,
    typer.Option(
        "--corpus",
        "-c",
        metavar="NAME",
        help="The corpus meant; else the setting `corpus`, else the only one there is.",
        show_default=False,
    ),
]
AtOption = Annotated[
    int | None,
    typer.Option(
        "--at", metavar="VERSION", min=1, help="Read this version, not the active one.", show_default=False
    ),
]
ModelOption = Annotated[
    str | None,
    typer.Option(
        "--model",
        metavar="NAME",
        help="offline, or PROVIDER:NAME as anthropic:NAME; else the setting `model` (offline).",
        show_default=False,
    ),
]
SummaryModelOption = Annotated[
    str | None,
    typer.Option("--summary-model", metavar="NAME", help="Another model for summaries.", show_default=False),
]
GroupingModelOption = Annotated[
    str | None,
    typer.Option("--grouping-model", metavar="NAME", help="Another model for grouping.", show_default=False),
]
BaseUrlOption = Annotated[
    str | None,
    typer.Option(
        "--base-url",
        metavar="URL",
        help="Where an OpenAI-compatible server answers; else the setting `base_url`.",
        show_default=False,
    ),
]
WindowOption = Annotated[
    int | None,
    typer.Option(
        "--context-window",
        metavar="TOKENS",
        min=1,
        max=MOST["int"],
        help="Tokens that fit into one call; else what is known of the model.",
        show_default=False,
    ),
]
MaxCostOption = Annotated[
    float | None,
    typer.Option(
        "--max-cost",
        metavar="DOLLARS",
        min=0,
        max=MOST["float"],
        help="Stop before a call that could go over this; run again to go on.",
        show_default=False,
    ),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Confirm; nothing is asked.")]
Channel = Literal["text", "voice"]
