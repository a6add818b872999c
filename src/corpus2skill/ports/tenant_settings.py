"""Where tenants' settings are kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol

from corpus2skill.domain.tenant_settings import SettingValue, TenantSettings

Change = Callable[[TenantSettings], Mapping[str, SettingValue]]
"""From the settings as they are to all values as they shall be."""


class TenantSettingsStore(Protocol):
    def settings(self, tenant: str) -> TenantSettings:
        """Empty where the tenant has set nothing."""
        ...

    def change(self, tenant: str, change: Change) -> tuple[TenantSettings, TenantSettings]:
        """Replace the values and return the settings before and after. No two changes are made at the same time.

        The same values again are no change, and the revision stays.
        """
        ...
