"""Where the command line begins. `--version` is answered before anything heavy is imported."""

from __future__ import annotations

import os
import sys


def main() -> None:
    """Run the command that `sys.argv` spells and leave with its exit code."""
    _occupy_closed_streams()
    arguments = sys.argv[1:]
    if arguments[:1] in (["--version"], ["-V"]):
        return _write_version()
    from corpus2skill.entrypoints.cli.app import run

    sys.exit(run(arguments))


def _occupy_closed_streams() -> None:
    """Where a standard stream is closed the next file would get its number, and what libraries write there."""
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(opened)


def _write_version() -> None:
    from corpus2skill import __version__

    if sys.stdout is None:  # the interpreter was begun with a closed one
        return
    try:
        sys.stdout.write(f"corpus2skill {__version__}\n")
        sys.stdout.flush()
    except OSError as error:
        from corpus2skill.entrypoints.cli.app import output_lost
        from corpus2skill.entrypoints.cli.desk import process_output

        sys.exit(output_lost(process_output(is_json=False), error))


if __name__ == "__main__":
    main()
