"""What a tenant sets for itself: models, prices, limits of spending."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from corpus2skill.application.model_wiring import model_for
from corpus2skill.application.server.waiting_jobs import budget_changed
from corpus2skill.application.server_wiring import Server
from corpus2skill.application.wiring import OFFLINE
from corpus2skill.domain.model_name import Role
from corpus2skill.domain.people import Principal
from corpus2skill.domain.tenant_settings import SettingValue, TenantSettings
from corpus2skill.errors import Outrun
from corpus2skill.settings import TENANT_NAMES, check_tenant_value

_ROLES: dict[str, Role] = {
    "model": "summarize",
    "summary_model": "summarize",
    "grouping_model": "group",
    "navigation_model": "navigate",
}
Changes = Mapping[str, SettingValue | None]
"""By name; None: the server's setting again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingsView:
    revision: int
    values: Mapping[str, SettingValue | None]
    """Those in force, of all names that a tenant may set."""
    own: frozenset[str]
    """Those that the tenant has set."""


def show_settings(server: Server, tenant: str) -> SettingsView:
    return _view(server, tenant, server.tenant_settings.settings(tenant))


def change_settings(
    server: Server, by: Principal, changes: Changes, *, expected: int | None = None
) -> SettingsView:
    """Set what is named; the others stay. In force for what is begun from now on.

    `expected`: the revision that was looked at; None: whichever it is.

    Raises:
        UnusableSettings: no such setting, not such a value, or no such model.
        Outrun: somebody else changed the settings since.
    """
    checked = {name: None if value is None else _checked(name, value) for name, value in changes.items()}

    def turn(was: TenantSettings) -> Mapping[str, SettingValue]:
        if expected is not None and was.revision != expected:
            raise Outrun("settings_outrun")
        merged = {**was.values, **checked}
        return {name: value for name, value in merged.items() if value is not None}

    was, becomes = server.tenant_settings.change(by.tenant, turn)
    for name in sorted(checked):
        before, after = was.values.get(name), becomes.values.get(name)
        if before != after:
            values = {"from": _shown(before), "to": _shown(after)}
            server.audit.note(by.tenant, by.actor, "settings.changed", name, **values)
    if "month_cost" in checked:
        budget_changed(server, by.tenant)
    return _view(server, by.tenant, becomes)


def _checked(name: str, value: SettingValue) -> SettingValue:
    parsed = check_tenant_value(name, value)
    if name in _ROLES and parsed != OFFLINE:
        model_for(str(parsed), _ROLES[name])
    return parsed


def _view(server: Server, tenant: str, settings: TenantSettings) -> SettingsView:
    in_force: dict[str, SettingValue | None] = asdict(server.workspace(tenant).settings)
    return SettingsView(
        revision=settings.revision,
        values={name: in_force[name] for name in TENANT_NAMES},
        own=frozenset(name for name in settings.values if name in TENANT_NAMES),
    )


def _shown(value: SettingValue | None) -> SettingValue:
    return "-" if value is None else value
