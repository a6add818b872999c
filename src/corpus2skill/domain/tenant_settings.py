"""What a tenant has set for itself, over the server's settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

SettingValue = str | int | float


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantSettings:
    values: Mapping[str, SettingValue] = field(default_factory=dict[str, SettingValue])
    """By name, as `settings.Settings` has them; the others are the server's."""
    revision: int = 0
    """Grows with every change; 0 before the first."""
