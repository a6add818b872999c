"""How large the sheets of an old Excel file are, by its records: asked before a library lays them out in memory."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from corpus2skill.errors import SourceRefused

_BEGINNING_OF_STREAM = 0x0809
_DIMENSIONS = 0x0200
_ENCRYPTION = 0x002F
_ROW_OF_NUMBERS = 0x00BD
_CELLS = frozenset({0x0006, 0x0203, 0x0204, 0x0205, 0x00D6, 0x00FD, 0x027E, _ROW_OF_NUMBERS})
_HEADER = struct.Struct("<HH")
_LARGEST_SHEET = 65_536 * 256


@dataclass(slots=True)
class _Corner:
    """The cell furthest down and the one furthest right of one sheet."""

    row: int = -1
    column: int = -1

    @property
    def area(self) -> int:
        return (self.row + 1) * (self.column + 1)


def require_size(stream: bytes, *, max_cells: int) -> None:
    """Refuse a workbook stream whose sheets, each a full rectangle, hold more than `max_cells`.

    Raises:
        SourceRefused: `too_large`, `encrypted`, or `corrupt` where a sheet claims to be larger than any can be.
    """
    corners = [_Corner()]
    at = 0
    while at + _HEADER.size <= len(stream):
        kind, length = _HEADER.unpack_from(stream, at)
        at += _HEADER.size
        if kind == _BEGINNING_OF_STREAM:
            corners.append(_Corner())
        elif kind == _ENCRYPTION:
            raise SourceRefused("encrypted")
        elif kind in _CELLS and length >= _HEADER.size and at + length <= len(stream):
            _reach(corners[-1], stream, at, length, is_row=kind == _ROW_OF_NUMBERS)
        elif kind == _DIMENSIONS and length == 14:
            _require_possible(stream[at : at + length])
        at += length
    if sum(corner.area for corner in corners) > max_cells:
        raise SourceRefused("too_large", "cells", limit=max_cells)


def _reach(corner: _Corner, stream: bytes, at: int, length: int, *, is_row: bool) -> None:
    row, column = _HEADER.unpack_from(stream, at)
    if is_row:
        column = int.from_bytes(stream[at + length - 2 : at + length], "little")
    corner.row, corner.column = max(corner.row, row), max(corner.column, column)


def _require_possible(dimensions: bytes) -> None:
    if len(dimensions) == 14:
        first_row, end_row, first_column, end_column = struct.unpack_from("<IIHH", dimensions)
        if max(end_row - first_row, 0) * max(end_column - first_column, 0) > _LARGEST_SHEET:
            raise SourceRefused("corrupt")
