"""Read and change the workspace's settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from corpus2skill.application.json_form import to_json
from corpus2skill.application.model_wiring import check_model
from corpus2skill.application.wiring import Workspace, write_settings_file
from corpus2skill.settings import NAMES, check_name, parse_value, read_settings_file, variable

Origin = Literal["environment", "file", "default"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingLine:
    """One setting as it holds now, and where its value comes from."""

    name: str
    value: object
    origin: Origin


def list_settings(workspace: Workspace, environment: Mapping[str, str]) -> list[SettingLine]:
    """Every setting, in the order of the documentation."""
    stored = read_settings_file(workspace.path)
    values = to_json(workspace.settings)
    assert isinstance(values, dict)
    return [
        SettingLine(name=name, value=values[name], origin=_origin(name, stored, environment))
        for name in NAMES
    ]


def _origin(name: str, stored: Mapping[str, object], environment: Mapping[str, str]) -> Origin:
    if variable(name) in environment:
        return "environment"
    return "file" if name in stored else "default"


def set_setting(workspace: Workspace, name: str, value: str) -> None:
    """Write one setting into the workspace's file.

    Raises:
        UnusableSettings: no such setting, or not such a value.
    """
    check_name(name)
    if name == "model":
        check_model(value)
    stored = {**read_settings_file(workspace.path), name: parse_value(name, value)}
    write_settings_file(workspace, stored)


def unset_setting(workspace: Workspace, name: str) -> None:
    """Take one setting out of the file, so that its default holds again."""
    check_name(name)
    stored = read_settings_file(workspace.path)
    stored.pop(name, None)
    write_settings_file(workspace, stored)
