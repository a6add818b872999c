"""The master key from the environment, from a file that was named, or from one that the server makes for itself."""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path

from corpus2skill.adapters.keys.ciphers import AesCipher, cipher_of, new_master_key
from corpus2skill.errors import UnusableSettings, WorkspaceUnusable
from corpus2skill.ports.ciphers import Cipher

VARIABLE = "CORPUS2SKILL_MASTER_KEY"
FILE_NAME = "master.key"
_FOR_OWNER = 0o600
_HAS_RIGHTS = os.name == "posix"


class VariableKeys:
    """`ports.ciphers.MasterKeys` from the environment: one key, or the new one and the old one with a comma between."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        self._environment = environment

    def ciphers(self) -> tuple[Cipher, ...]:
        return _ciphers(self._environment.get(VARIABLE, ""), VARIABLE)

    def begin_rotation(self) -> None:
        raise UnusableSettings("master_key_by_hand", variable=VARIABLE)

    def end_rotation(self) -> None:
        """Nothing: the variable is the operator's to change."""


class FileKeys:
    """`ports.ciphers.MasterKeys` from a file with a key a line, the newest first."""

    def __init__(self, file: Path, *, is_own: bool) -> None:
        """`is_own`: the server makes it where it is not there yet."""
        self._file = file
        self._is_own = is_own

    def ciphers(self) -> tuple[Cipher, ...]:
        if self._is_own and not self._file.exists():
            self._make()
        return _ciphers("\n".join(self._keys()), str(self._file))

    def begin_rotation(self) -> None:
        self._replace((new_master_key(), *self._keys()))

    def end_rotation(self) -> None:
        self._replace(self._keys()[:1])

    def _keys(self) -> tuple[str, ...]:
        try:
            with self._file.open(encoding="ascii") as opened:
                self._check_rights(os.fstat(opened.fileno()).st_mode)
                return _split(opened.read())
        except FileNotFoundError:
            raise UnusableSettings("master_key_file_missing", file=str(self._file)) from None
        except UnicodeDecodeError:
            raise UnusableSettings("master_key_form", source=str(self._file)) from None
        except OSError as error:
            raise _refused(self._file, error) from error

    def _check_rights(self, mode: int) -> None:
        """Raises: UnusableSettings: others could read the key, and with it all that it seals."""
        forbidden = 0o077 if self._is_own else 0o007
        if _HAS_RIGHTS and mode & forbidden:
            shown = f"{stat.S_IMODE(mode):04o}"
            raise UnusableSettings("master_key_readable", file=str(self._file), mode=shown)

    def _make(self) -> None:
        """Make a key unless another process was quicker."""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            beside = _written_beside(self._file, (new_master_key(),))
            try:
                os.link(beside, self._file)
            except FileExistsError:
                pass
            finally:
                beside.unlink()
            _sync(self._file.parent)
        except OSError as error:
            raise _refused(self._file, error) from error

    def _replace(self, keys: tuple[str, ...]) -> None:
        try:
            mode = stat.S_IMODE(self._file.stat().st_mode)
            beside = _written_beside(self._file, keys)
            try:
                beside.chmod(mode)
                beside.replace(self._file)
            finally:
                beside.unlink(missing_ok=True)
            _sync(self._file.parent)
        except OSError as error:
            raise _refused(self._file, error) from error


class NoKeys:
    """`ports.ciphers.MasterKeys` where one has to be given and none is."""

    def ciphers(self) -> tuple[Cipher, ...]:
        raise UnusableSettings("master_key_wanted", variable=VARIABLE)

    def begin_rotation(self) -> None:
        raise UnusableSettings("master_key_wanted", variable=VARIABLE)

    def end_rotation(self) -> None:
        raise UnusableSettings("master_key_wanted", variable=VARIABLE)


def _ciphers(text: str, source: str) -> tuple[AesCipher, ...]:
    keys = _split(text)
    if not keys:
        raise UnusableSettings("master_key_form", source=source)
    return tuple(cipher_of(key, source) for key in keys)


def _split(text: str) -> tuple[str, ...]:
    return tuple(key for key in re.split(r"[\s,]+", text) if key)


def _written_beside(file: Path, keys: tuple[str, ...]) -> Path:
    beside = file.with_name(f".{file.name}-{secrets.token_hex(4)}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _FOR_OWNER)
    with os.fdopen(handle, "w", encoding="ascii") as opened:
        opened.write("".join(f"{key}\n" for key in keys))
        opened.flush()
        os.fsync(opened.fileno())
    return beside


def _sync(folder: Path) -> None:
    if not _HAS_RIGHTS:
        return
    opened = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def _refused(file: Path, error: OSError) -> WorkspaceUnusable:
    return WorkspaceUnusable("no_rights", path=str(file), reason=error.strerror or str(error))
