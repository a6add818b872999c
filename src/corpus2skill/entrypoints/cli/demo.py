"""What the product does, on its own sample documents: `python -m corpus2skill.entrypoints.cli.demo`.

It runs the commands that a person would type, through the same door, and shows each of them.
"""

from __future__ import annotations

import shlex
import shutil
import sys
from collections.abc import Iterator, Sequence
from importlib import resources
from pathlib import Path

from corpus2skill.entrypoints.cli import exit_codes
from corpus2skill.entrypoints.cli.app import run

WORKSPACE = Path(".corpus2skill-demo")


def main() -> int:
    """Run the demonstration; 0 if every command came out as it should."""
    shutil.rmtree(WORKSPACE, ignore_errors=True)
    for arguments, wanted in _commands():
        sys.stdout.write(f"\n$ {shlex.join(('corpus2skill', *arguments))}\n")
        sys.stdout.flush()
        code = run([*arguments, "--workspace", str(WORKSPACE)])
        if code != wanted:
            sys.stderr.write(f"exit code {code}, expected {wanted}\n")
            return exit_codes.UNEXPECTED
    sys.stdout.write(f"\nGo on with it: corpus2skill tree --corpus terms-ja --workspace {WORKSPACE}\n")
    return exit_codes.OK


def _commands() -> Iterator[tuple[Sequence[str], int]]:
    """Yield each command line with the exit code it must have."""
    japanese, english = ("--corpus", "terms-ja"), ("--corpus", "terms-en")
    yield ("compile", _samples("ja"), *japanese, "--title", "サンプル契約帳 ご利用案内"), exit_codes.OK
    yield ("compile", _samples("en"), *english, "--title", "Larkfield Tool Share guide"), exit_codes.OK
    yield ("tree", *japanese, "--depth", "1"), exit_codes.OK
    yield ("tree", *english), exit_codes.OK
    yield ("ask", "年額プランを途中で解約したら返金されますか？", *japanese), exit_codes.OK
    yield ("ask", "月額プランを解約すると、いつまで使えますか？", *japanese), exit_codes.OK
    yield ("ask", "社員食堂の今週の献立を教えてください。", *japanese), exit_codes.NOT_FOUND
    yield ("ask", "Do I get a refund if I cancel an annual membership?", *english), exit_codes.OK


def _samples(language: str) -> str:
    """The packaged folder, as a person here would write it."""
    folder = Path(str(resources.files("corpus2skill") / "samples" / language))
    here = Path.cwd()
    return str(folder.relative_to(here) if folder.is_relative_to(here) else folder)


if __name__ == "__main__":
    sys.exit(main())
