"""Keys from the environment, from a file that was named, and from the system's keyring."""

from __future__ import annotations

import os
import sys
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

from corpus2skill.domain.provider_key import ProviderKey
from corpus2skill.errors import UnusableSettings

SERVICE = "corpus2skill"
"""The service under which the keyring holds keys; the user name is the provider's."""
VARIABLES: dict[str, tuple[str, ...]] = {
    "anthropic": ("ANTHROPIC_API_KEY",),
    "openai": ("OPENAI_API_KEY",),
    "azure": ("AZURE_OPENAI_API_KEY",),
    "bedrock": ("AWS_BEARER_TOKEN_BEDROCK",),
    "vertex": ("VERTEX_ACCESS_TOKEN",),
}
Keyring = Callable[[str, str], str | None]
"""Service and user name to the password."""


def system_keyring(service: str, user: str) -> str | None:
    """Ask the system's keyring; None where there is none. It is not asked where that could wait for a desktop."""
    if sys.platform == "linux" and not _has_desktop(os.environ):
        return None
    try:
        import keyring
        from keyring.errors import KeyringError
    except ImportError:
        return None
    try:
        return keyring.get_password(service, user)
    except (KeyringError, RuntimeError, OSError):
        return None


class Keys:
    """A `KeyRing`: what the environment says wins over the file, the file over the keyring.

    The file has lines `NAME=value`, or is TOML; a name is a provider's or that of its variable.
    """

    def __init__(
        self, environment: Mapping[str, str], file: Path | None = None, keyring: Keyring = system_keyring
    ) -> None:
        self._environment = environment
        self._file = file
        self._keyring = keyring

    def key(self, provider: str) -> ProviderKey | None:
        variables = VARIABLES.get(provider, ())
        for variable in variables:
            if secret := self._environment.get(variable, "").strip():
                return _checked(secret, variable)
        if self._file is not None:
            named = _read(self._file)
            for name in (*variables, provider):
                if secret := named.get(name.lower(), "").strip():
                    return _checked(secret, str(self._file))
        if secret := (self._keyring(SERVICE, provider) or "").strip():
            return _checked(secret, "keyring")
        return None

    def address(self, provider: str) -> str | None:
        return None

    def approve(self, address: str) -> None:
        """Nothing: one's own machine may call what it likes."""

    @property
    def variables(self) -> Mapping[str, str]:
        return self._environment

    @property
    def is_alone(self) -> bool:
        return False

    def revision(self) -> str:
        return ""


def _read(file: Path) -> Mapping[str, str]:
    """Return the values by lower-case name."""
    try:
        text = file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "UTF-8"
        raise UnusableSettings("key_file_unusable", file=str(file), reason=reason) from None
    values = _toml(text)
    if values is None:
        values = _lines(text)
    if values is None:
        raise UnusableSettings("key_file_unusable", file=str(file), reason="NAME=value") from None
    return values


def _toml(text: str) -> Mapping[str, str] | None:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None
    return {name.lower(): value for name, value in table.items() if isinstance(value, str)}


def _lines(text: str) -> Mapping[str, str] | None:
    values: dict[str, str] = {}
    for line in text.splitlines():
        written = line.strip().removeprefix("export ").strip()
        if not written or written.startswith("#"):
            continue
        name, sign, value = written.partition("=")
        if not sign:
            return None
        values[name.strip().lower()] = value.strip().strip("\"'")
    return values


def _checked(secret: str, source: str) -> ProviderKey:
    """A key goes into a header: what does not fit there would be shown by the error about it."""
    if not secret.isascii() or not secret.isprintable() or " " in secret:
        raise UnusableSettings("key_malformed", source=source)
    return ProviderKey(secret=secret, source=source)


def _has_desktop(environment: Mapping[str, str]) -> bool:
    return bool(environment.get("DBUS_SESSION_BUS_ADDRESS") or environment.get("PYTHON_KEYRING_BACKEND"))
