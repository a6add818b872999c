"""`python -m corpus2skill.entrypoints.worker --home FOLDER`: the process beside the door, begun by `serve`.

Its other settings come from the environment, where a database's password is not seen by everybody.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import logging
import os
import signal
from contextlib import suppress
from pathlib import Path

from corpus2skill.application.server.worker import run_worker
from corpus2skill.application.server_wiring import open_server
from corpus2skill.entrypoints.logs import configure_logs
from corpus2skill.settings import ServerSettings, load_server_settings

_PARENT_SECONDS = 1.0
_NICE = 10


def main() -> None:
    """Work until SIGTERM or SIGINT, or until the process that began this one is gone."""
    options = _parser().parse_args()
    if options.nice:
        os.nice(options.nice)
    settings = load_server_settings({})
    configure_logs(settings.log_format)
    asyncio.run(_work(options.home, settings, parent=options.parent))
    logging.shutdown()
    os._exit(0)  # calls that did not end in time are in threads that nothing else would end


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="corpus2skill-worker", description=__doc__)
    parser.add_argument("--home", type=Path, required=True, help="the server's folder")
    parser.add_argument("--nice", type=int, default=_NICE, help="how far behind other processes it stands")
    parser.add_argument("--parent", type=int, help="the process with which it is to end")
    return parser


async def _work(home: Path, settings: ServerSettings, *, parent: int | None) -> None:
    stop = asyncio.Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(each, stop.set)
    watching = asyncio.create_task(_watch(parent, stop)) if parent else None
    gc.freeze()
    await run_worker(open_server(home, settings), stop)
    if watching is not None:
        watching.cancel()


async def _watch(parent: int, stop: asyncio.Event) -> None:
    """Nobody else would end a worker whose server was killed, be it before the worker was quite there."""
    while not stop.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), _PARENT_SECONDS)
        if os.getppid() != parent:
            stop.set()


if __name__ == "__main__":
    main()
