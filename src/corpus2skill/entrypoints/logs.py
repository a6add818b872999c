"""What the server's processes log: one line an event on standard error, for people or for programs."""

from __future__ import annotations

import logging
import sys
from typing import Literal

import structlog
from structlog.typing import Processor

_LOUD = {
    "uvicorn.error": logging.WARNING,
    "dbos": logging.WARNING,
    "httpx2": logging.WARNING,
    "sqlalchemy": logging.WARNING,
}
"""Of libraries: what goes on in them is told by our own lines."""


def configure_logs(log_format: Literal["console", "json"]) -> None:
    """Have everything that logs in this process write lines of one form, with the id of its request."""
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.ExtraAdder(),
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *_writing(log_format)],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.INFO)
    for name, level in _LOUD.items():
        logging.getLogger(name).setLevel(level)


def _writing(log_format: Literal["console", "json"]) -> list[Processor]:
    if log_format == "json":
        return [
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(ensure_ascii=False),
        ]
    colors = sys.stderr.isatty()
    plain = structlog.dev.plain_traceback
    return [structlog.dev.ConsoleRenderer(colors=colors, exception_formatter=plain)]
