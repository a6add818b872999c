"""Read and change the workspace's settings."""

from __future__ import annotations

from corpus2skill.application.wiring import Workspace, write_settings_file
from corpus2skill.settings import check_name, parse_value, read_settings_file


def set_setting(workspace: Workspace, name: str, value: str) -> None:
    """Write one setting into the workspace's file.

    Raises:
        UnusableSettings: no such setting, or not such a value.
    """
    check_name(name)
    stored = {**read_settings_file(workspace.path), name: parse_value(name, value)}
    write_settings_file(workspace, stored)


def unset_setting(workspace: Workspace, name: str) -> None:
    """Take one setting out of the file, so that its default holds again."""
    check_name(name)
    stored = read_settings_file(workspace.path)
    stored.pop(name, None)
    write_settings_file(workspace, stored)
