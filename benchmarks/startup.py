"""What it costs to start: `corpus2skill --version` beside a bare interpreter, and the demo.

usage: python benchmarks/startup.py
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from pathlib import Path

BIN = Path(sys.executable).parent
RUNS = 5


def cost(command: list[str]) -> tuple[float, float, float]:
    """CPU seconds, wall seconds and peak megabytes of a command."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise SystemExit(f"{command} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - began, usage.ru_maxrss / 1024


def best(command: list[str], runs: int) -> tuple[float, float, float]:
    return min(cost(command) for _ in range(runs))


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    rows = {
        "python -c pass": best([sys.executable, "-c", "pass"], RUNS),
        "corpus2skill --version": best([str(BIN / "corpus2skill"), "--version"], RUNS),
        "corpus2skill --help": best([str(BIN / "corpus2skill"), "--help"], RUNS),
        "the demo": best([sys.executable, "-m", "corpus2skill.entrypoints.cli.demo"], 1),
    }
    print(f"{'':28}{'CPU s':>8}{'wall s':>8}{'MB':>8}")
    for name, (cpu, wall, megabytes) in rows.items():
        print(f"{name:28}{cpu:8.3f}{wall:8.3f}{megabytes:8.1f}")


if __name__ == "__main__":
    main()
