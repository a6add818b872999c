"""Read and change the workspace's settings."""

from __future__ import annotations

import tomli_w

from corpus2skill.adapters.store.durable import replace_file
from corpus2skill.application.wiring import Workspace
from corpus2skill.settings import SETTINGS_FILE, check_name, parse_value, read_settings_file


def set_setting(workspace: Workspace, name: str, value: str) -> None:
    """Write one setting into the workspace's file.

    Raises:
        UnusableSettings: no such setting, or not such a value.
    """
    check_name(name)
    _write(workspace, {**read_settings_file(workspace.path), name: parse_value(name, value)})


def unset_setting(workspace: Workspace, name: str) -> None:
    """Take one setting out of the file, so that its default holds again."""
    check_name(name)
    stored = read_settings_file(workspace.path)
    stored.pop(name, None)
    _write(workspace, stored)


def _write(workspace: Workspace, stored: dict[str, object]) -> None:
    workspace.versions.prepare()
    replace_file(workspace.path / SETTINGS_FILE, tomli_w.dumps(stored).encode("utf-8"))
