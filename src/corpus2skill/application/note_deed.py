"""What was done at the machine itself, in the operators' log."""

from __future__ import annotations

import getpass
import os
from collections.abc import Mapping

from corpus2skill.application.wiring import TENANT, Workspace
from corpus2skill.settings import load_server_settings


def os_actor() -> str:
    """Who works at this machine, as the log names them: `cli:<user>`."""
    try:
        import pwd

        return f"cli:{pwd.getpwuid(os.getuid()).pw_name}"
    except (ImportError, KeyError):  # no such accounts here, or one without an entry
        pass
    try:
        return f"cli:{getpass.getuser()}"
    except (OSError, KeyError, ImportError):
        return "cli:unknown"


def note_deed(
    workspace: Workspace,
    action: str,
    object_: str,
    environment: Mapping[str, str],
    **values: str | float | bool | None,
) -> None:
    """Note what was just done in the local tenant's log, in the database that `serve` here would use.

    Raises:
        Corpus2SkillError: it cannot be written.
    """
    with workspace.audit(load_server_settings({}, environment).database_url) as log:
        log.note(TENANT, os_actor(), action, object_, **values)
