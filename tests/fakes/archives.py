"""ZIP files made for tests, down to the bytes of their names."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO


def zip_file(entries: Mapping[str, str | bytes] | Sequence[tuple[str, str | bytes]]) -> bytes:
    """Return an archive as Python writes it: names in UTF-8, and marked so where they are not ASCII."""
    data = BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries.items() if isinstance(entries, Mapping) else entries:
            archive.writestr(name, content)
    return data.getvalue()


def zip_with_raw_name(name: bytes, content: bytes, *, flags: int = 0) -> bytes:
    """Return an archive of one entry with these very bytes for a name, as old archivers wrote it."""
    placeholder = "n" * len(name)
    data = bytearray(zip_file({placeholder: content}))
    for mark, flag_at in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(mark)
        data[at + flag_at : at + flag_at + 2] = flags.to_bytes(2, "little")
    return bytes(data).replace(placeholder.encode(), name)
