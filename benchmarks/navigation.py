"""What a run with a language model costs beside the model: time between the rounds, deltas, many runs at once.

usage: python benchmarks/navigation.py [share | many | all] [RUNS]

    share   runs of five rounds one after another, 300 ms to the first token and 30 ms between deltas, both providers:
            what is not the provider's own time, the first event, and a delta's way beside the bare SDK's
    many    500 runs at once in one process: whether all are recorded, fetches, memory

The provider is the project's fake (tests/fakes/providers) in a process of its own, over real HTTP; the tree is of the
samples. Every column is a process of its own. What the provider took is by its own clock, from the arrival of a
request to the last event of its stream; all else of a run's time counts as ours, the SDK's share too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # for the fakes

from benchmarks.navigation_runs import Figures, at_once, our_share

PROVIDERS = ("anthropic", "openai")
MEASURES: Mapping[str, tuple[Callable[[str, int], Figures], int]] = {
    "share": (our_share, 10),
    "many": (at_once, 500),
}
"""What is measured, and in how many runs."""


def measured(command: str, provider: str, runs: int) -> Figures:
    """Run one measure in a process of its own."""
    words = [sys.executable, __file__, "--one", json.dumps([command, provider, runs])]
    done = subprocess.run(words, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)


def show(columns: Sequence[tuple[str, Figures]]) -> None:
    print(f"{'':28}" + "".join(f"{head:>14}" for head, _ in columns))
    for name in columns[0][1]:
        print(f"{name:28}" + "".join(f"{figures[name]:14.2f}" for _, figures in columns), flush=True)


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        command, provider, runs = json.loads(sys.argv[2])
        print(json.dumps(MEASURES[command][0](provider, runs)))
        return
    command = sys.argv[1] if len(sys.argv) > 1 else "all"
    if command not in (*MEASURES, "all"):
        raise SystemExit(__doc__)
    for each in MEASURES if command == "all" else (command,):
        runs = int(sys.argv[2]) if len(sys.argv) > 2 else MEASURES[each][1]
        print(f"\n{each}, {runs} runs (load {os.getloadavg()[0]:.1f})", flush=True)
        show([(provider, measured(each, provider, runs)) for provider in PROVIDERS])


if __name__ == "__main__":
    main()
