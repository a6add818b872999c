"""Pictures of pages of PDF documents, drawn by a process of its own within bounds."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

from corpus2skill.errors import Conflict

_MODULE = "corpus2skill.adapters.extract.page_picture_child"
_SECONDS = 30.0
_AT_ONCE = 2
_MOST_BYTES = 30_000_000
_SLOTS = threading.BoundedSemaphore(_AT_ONCE)
"""Of this process: drawing takes a core each."""


def page_picture(pdf: Path, label: str, passage: str, *, width: int) -> bytes:
    """Return the page of that label as PNG of so many pixels across, with the lines of `passage` marked.

    Raises:
        Conflict: it cannot be drawn within the bounds.
    """
    arguments = [sys.executable, "-m", _MODULE, str(pdf), label, str(width)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with _SLOTS:
        try:
            drawn = subprocess.run(  # noqa: S603 - our own interpreter and module
                arguments,
                input=passage.encode("utf-8", "replace"),
                capture_output=True,
                timeout=_SECONDS,
                check=True,
                env=environment,
            ).stdout
        except (OSError, subprocess.SubprocessError) as error:
            raise Conflict("page_unreadable") from error
    if not drawn.startswith(b"\x89PNG") or len(drawn) > _MOST_BYTES:
        raise Conflict("page_unreadable")
    return drawn
