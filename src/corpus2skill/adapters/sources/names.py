"""Names of sources: the same on every machine, whatever its file system and locale."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

_CONTROL = re.compile("[\x00-\x1f\x7f]")
_STRAY = re.compile("[\x80-\xa0\ue000-\uf8ff]")
"""What Python's CP932 makes of bytes that are no character."""
_LEGACY = ("cp932", "euc_jp")


def is_folder(path: Path) -> bool:
    """True for a folder or a link to one; what may not even be looked at is left to reading, which says why."""
    try:
        return path.is_dir()
    except OSError:
        return False


def labels(paths: Sequence[Path]) -> list[str]:
    """Return what stands before the names of each path's files; for a file it is the whole name.

    A single folder has none. Paths of the same name get as many folders above them as tell them apart.
    """
    if len(paths) == 1 and is_folder(paths[0]):
        return [""]
    depths = [1] * len(paths)
    while True:
        found = [_tail(path, depth) for path, depth in zip(paths, depths, strict=True)]
        unclear = [
            number
            for number, label in enumerate(found)
            if found.count(label) > 1 and depths[number] < len(paths[number].parts)
        ]
        if not unclear:
            return found
        for number in unclear:
            depths[number] += 1


def shown_name(name: str) -> str:
    """Return a file name in NFC that can be shown and written anywhere.

    A name that is not UTF-8 on disk is read as the Japanese encoding it fits, else its bytes are written out
    as `\\xNN`; control characters become their pictures.
    """
    raw = os.fsencode(name)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError:
        text = _legacy_name(raw)
    return unicodedata.normalize("NFC", _CONTROL.sub(_picture, text))


def _tail(path: Path, depth: int) -> str:
    parts = [shown_name(part.strip("/\\")) for part in path.parts]
    return "/".join(filter(None, parts[-depth:])) or "root"


def _legacy_name(raw: bytes) -> str:
    for codec in _LEGACY:
        try:
            text = raw.decode(codec)
        except UnicodeDecodeError:
            continue
        if not _STRAY.search(text):
            return text
    return raw.decode("utf-8", "backslashreplace")


def _picture(match: re.Match[str]) -> str:
    code = ord(match.group())
    return "\u2421" if code == 0x7F else chr(0x2400 + code)
