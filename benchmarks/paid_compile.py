"""What a compile with a language model costs beside the model: time, CPU, memory, the result store.

usage: python benchmarks/paid_compile.py [latency | cpu | memory | scale | http | store | all] [SIZE]

    latency   2,000 chunks at 64 calls at a time, 1 s and 200 ms a call, both providers: wall time over the ideal
    cpu       our CPU for each call of summarising beside the bare SDK making the same calls
    memory    the peak of a compile of 2,000 and of 20,000 chunks
    scale     100,000 chunks, a model without latency in the same process, windows of 200,000 and 8,192 tokens
    http      the same over HTTP (some minutes), windows of 200,000 tokens
    store     the result store alone, beside SQLite used directly

The provider is the project's fake (tests/fakes/providers) in a process of its own, over real HTTP. Every run is
a process of its own, so that its CPU and its peak memory are its own. The ideal of a compile is its summaries
over 64 times the latency, and the longest chain of grouping calls that waited for each other, each for the latency.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for the fakes

from benchmarks.paid_runs import Figures, cpu_beside_bare, in_process, over_http
from benchmarks.paid_store import store_alone

PROVIDERS = ("anthropic", "openai")
WIDE, NARROW = 200_000, 8_192
MEASURES: Mapping[str, Callable[..., Figures]] = {
    "over_http": over_http,
    "in_process": in_process,
    "cpu_beside_bare": cpu_beside_bare,
    "store_alone": store_alone,
}
Run = tuple[str, str, Sequence[str | float]]
"""The column's head, the measure and its arguments."""


def runs_of(command: str, size: int | None) -> list[Run]:
    match command:
        case "latency":
            return [
                (f"{provider} {latency:g} s", "over_http", (provider, size or 2_000, latency, WIDE))
                for latency in (1.0, 0.2)
                for provider in PROVIDERS
            ]
        case "cpu":
            return [(provider, "cpu_beside_bare", (provider, size or 1_000)) for provider in PROVIDERS]
        case "memory":
            sizes = (2_000, 20_000) if size is None else (size, 10 * size)
            return [(f"{chunks} chunks", "over_http", ("anthropic", chunks, 0.0, WIDE)) for chunks in sizes]
        case "scale":
            return [
                (f"window {window}", "in_process", (size or 100_000, window)) for window in (WIDE, NARROW)
            ]
        case "http":
            return [("anthropic", "over_http", ("anthropic", size or 100_000, 0.0, WIDE))]
        case "store":
            return [("ms", "store_alone", (size or 20_000,))]
        case _:
            raise SystemExit(__doc__)


def measured(measure: str, arguments: Sequence[str | float]) -> Figures:
    """Run one measure in a process of its own."""
    words = [sys.executable, __file__, "--one", json.dumps([measure, *arguments])]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def show(runs: Sequence[Run]) -> None:
    columns = [(head, measured(measure, arguments)) for head, measure, arguments in runs]
    print(f"{'':28}" + "".join(f"{head:>18}" for head, _ in columns))
    for name in columns[0][1]:
        print(f"{name:28}" + "".join(f"{figures[name]:18.2f}" for _, figures in columns), flush=True)


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        measure, *arguments = json.loads(sys.argv[2])
        print(json.dumps(MEASURES[measure](*arguments)))
        return
    command = sys.argv[1] if len(sys.argv) > 1 else "all"
    size = int(sys.argv[2]) if len(sys.argv) > 2 else None
    for each in ("latency", "cpu", "memory", "store", "scale") if command == "all" else (command,):
        print(f"\n{each} (load {os.getloadavg()[0]:.1f})", flush=True)
        show(runs_of(each, size))


if __name__ == "__main__":
    main()
