"""Options and arguments that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer


def named_path(text: str) -> Path:
    """The path that an argument names. An empty one, as an unset variable gives, is not the current folder."""
    if not text:
        raise typer.BadParameter("a path is wanted, and came empty; the current folder is spelled .")
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
        "--model", metavar="NAME", help="The engine; else the setting `model` (offline).", show_default=False
    ),
]
YesOption = Annotated[bool, typer.Option("--yes", "-y", help="Confirm; nothing is asked.")]
Channel = Literal["text", "voice"]
