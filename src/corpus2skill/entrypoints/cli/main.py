"""Where the command line begins. `--version` is answered before anything heavy is imported."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command that `sys.argv` spells and leave with its exit code."""
    arguments = sys.argv[1:]
    if arguments[:1] in (["--version"], ["-V"]):
        from corpus2skill import __version__

        sys.stdout.write(f"corpus2skill {__version__}\n")
        return
    from corpus2skill.entrypoints.cli.app import run

    sys.exit(run(arguments))


if __name__ == "__main__":
    main()
