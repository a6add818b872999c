"""Rights as an ordinary user meets them, though the tests run as root."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from contextlib import contextmanager

_VERSION_3 = 0x20080522
_ABOVE_RIGHTS = ~((1 << 1) | (1 << 2))
"""Without CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH (capabilities(7)) root is bound by the mode of a file."""


class _Header(ctypes.Structure):
    _fields_ = (("version", ctypes.c_uint32), ("pid", ctypes.c_int))


class _Sets(ctypes.Structure):
    _fields_ = (
        ("effective", ctypes.c_uint32),
        ("permitted", ctypes.c_uint32),
        ("inheritable", ctypes.c_uint32),
    )


@contextmanager
def ordinary_user() -> Iterator[None]:
    """Take from this thread, and from those it starts, what lets root pass by the mode of a file.

    The user stays the same, so that a checkout below a closed folder can still be imported from.
    """
    if os.geteuid() != 0:
        yield
        return
    before = _capabilities()
    try:
        _set(before, before[0].effective & _ABOVE_RIGHTS)
        yield
    finally:
        _set(before, before[0].effective)


def _capabilities() -> ctypes.Array[_Sets]:
    sets = (_Sets * 2)()
    _call("capget", sets)
    return sets


def _set(before: ctypes.Array[_Sets], effective: int) -> None:
    changed = (_Sets * 2)(*(_Sets(one.effective, one.permitted, one.inheritable) for one in before))
    changed[0].effective = effective & 0xFFFFFFFF
    _call("capset", changed)


def _call(name: str, sets: ctypes.Array[_Sets]) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(ctypes.byref(_Header(_VERSION_3, 0)), ctypes.byref(sets)) != 0:
        raise OSError(ctypes.get_errno(), name)
