"""OLE files made for tests: storages and streams, every stream in whole sectors."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

Tree = Mapping[str, "bytes | Tree"]
_SECTOR = 512
_SHORTEST = 4096
"""Shorter streams would lie in a stream of their own kind; they are filled up with zeros."""
_FREE, _END, _FAT, _NONE = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD, 0xFFFFFFFF
_ROOT, _STORAGE, _STREAM = 5, 1, 2


def ole_file(tree: Tree) -> bytes:
    """Return an OLE file with these streams; a mapping is a storage."""
    entries: list[list[object]] = [["Root Entry", _ROOT, _NONE, _NONE, b""]]
    entries[0][3] = _add(tree, entries)
    return _laid_out(entries)


def outlook_mail(
    words: Mapping[int, str | bytes],
    *,
    numbers: Mapping[int, int] | None = None,
    attachments: Sequence[Tree] = (),
    header: int = 32,
) -> dict[str, bytes | Tree]:
    """Return the tree of an Outlook mail: `words` by property (bytes are strings of eight bits), and `numbers`."""
    tree: dict[str, bytes | Tree] = {"__properties_version1.0": _properties(numbers or {}, header)}
    for tag, text in words.items():
        kind, data = ("001E", text) if isinstance(text, bytes) else ("001F", text.encode("utf-16-le"))
        tree[f"__substg1.0_{tag:04X}{kind}"] = data
    for number, attachment in enumerate(attachments):
        tree[f"__attach_version1.0_#{number:08X}"] = attachment
    return tree


def outlook_attachment(name: str, data: bytes | Tree) -> dict[str, bytes | Tree]:
    """Return the tree of an attachment; a tree for `data` is a mail within the mail."""
    tree = outlook_mail({0x3707: name}, header=8)
    tree["__substg1.0_3701" + ("0102" if isinstance(data, bytes) else "000D")] = data
    return tree


def _properties(numbers: Mapping[int, int], header: int) -> bytes:
    segments = [struct.pack("<HHIQ", 0x0003, tag, 6, number) for tag, number in numbers.items()]
    return bytes(header) + b"".join(segments)


def _add(tree: Tree, entries: list[list[object]]) -> int:
    """Add the entries of a storage, each the right neighbour of the one before; return the first one's number."""
    before = None
    first = _NONE
    for name in sorted(tree, key=lambda name: (len(name), name.upper())):
        inner = tree[name]
        number = len(entries)
        is_stream = isinstance(inner, bytes)
        entries.append([name, _STREAM if is_stream else _STORAGE, _NONE, _NONE, inner if is_stream else b""])
        if before is None:
            first = number
        else:
            entries[before][2] = number
        before = number
        if not isinstance(inner, bytes):
            entries[number][3] = _add(inner, entries)
    return first


def _laid_out(entries: list[list[object]]) -> bytes:
    sectors: list[bytes] = []
    table: list[int] = []
    directory = b""
    for name, kind, right, child, data in entries:
        assert isinstance(name, str)
        assert isinstance(data, bytes)
        start, size = _END, 0
        if kind == _STREAM:
            padded = data.ljust(_SHORTEST, b"\0")
            start, size = len(sectors), len(padded)
            _store(padded, sectors, table)
        directory += struct.pack(
            "<64sHBBIII16sIQQIQ",
            name.encode("utf-16-le"),
            len(name) * 2 + 2,
            kind,
            1,
            _NONE,
            right,
            child,
            b"",
            0,
            0,
            0,
            start,
            size,
        )
    directory_start = len(sectors)
    _store(directory, sectors, table)
    fat_start = len(sectors)
    count = -(-(len(table) + 1) // (_SECTOR // 4 - 1))
    table += [_FAT] * count
    table += [_FREE] * (count * (_SECTOR // 4) - len(table))
    sectors.append(struct.pack(f"<{len(table)}I", *table))
    header = struct.pack(
        "<8s16sHHHHH6sIIIIIIIIII",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        b"",
        0x3E,
        3,
        0xFFFE,
        9,
        6,
        b"",
        0,
        count,
        directory_start,
        0,
        _SHORTEST,
        _END,
        0,
        _END,
        0,
        fat_start,
    )
    fats = [fat_start + number for number in range(1, count)]
    header += struct.pack(f"<{108}I", *fats, *[_FREE] * (108 - len(fats)))
    return header + b"".join(sectors)


def _store(data: bytes, sectors: list[bytes], table: list[int]) -> None:
    pieces = [data[at : at + _SECTOR].ljust(_SECTOR, b"\0") for at in range(0, len(data), _SECTOR)]
    for number, piece in enumerate(pieces, start=1):
        sectors.append(piece)
        table.append(len(table) + 1 if number < len(pieces) else _END)
