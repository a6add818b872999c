"""What every command stands at: the opened workspace and the two streams."""

from __future__ import annotations

import io
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from corpus2skill.application.wiring import Workspace, open_workspace
from corpus2skill.entrypoints.cli.output import Output
from corpus2skill.settings import interface_language, load_settings, variable, workspace_path


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    workspace: Workspace
    out: Output


def open_desk(workspace: Path | None, *, is_json: bool) -> Desk:
    """Open the workspace that the option, the environment or the current folder names."""
    out = process_output(is_json=is_json)
    path = workspace_path(None if workspace is None else str(workspace), os.environ)
    settings = load_settings(path)
    return Desk(workspace=open_workspace(path, settings, database_url=_database_url()), out=out)


def _database_url() -> str | None:
    """The database of the server here, where it keeps its records elsewhere than in the workspace.

    Raises:
        InvalidInput: what speaks to it was not installed.
        UnusableSettings: it is no URL of a PostgreSQL database.
    """
    url = os.environ.get(variable("database_url"))
    if not url:
        return None
    from corpus2skill.application.server_wiring import checked_database_url
    from corpus2skill.entrypoints.cli.serving import require_server

    require_server()
    return checked_database_url(url)


def process_output(*, is_json: bool) -> Output:
    """The process's own streams, in the language of its environment."""
    language = interface_language(os.environ)
    return Output(language, is_json=is_json, out=_or_nowhere(sys.stdout), err=_or_nowhere(sys.stderr))


def _or_nowhere(stream: TextIO | None) -> TextIO:
    """The interpreter has no stream where it was begun with a closed one."""
    return io.StringIO() if stream is None else stream
