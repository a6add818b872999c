"""How well one not-found rule tells, on questions it was not set on.

usage: CORPUS2SKILL_PACKS=FOLDER python benchmarks/not_found.py [PACK ...]

The rule: a question is not found where its match (adapters/offline/mapped_index.py) is below a threshold. The
threshold is set anew, to the fewest mistakes of both kinds together, on half of all questions and judged on
the other half (200 random halvings, the packs' shares kept), and on all packs but one and judged on that one.
The shipped threshold is judged on everything. The form of the rule was chosen on these same questions: expect
a little less on others.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from corpus2skill.adapters.offline.mapped_index import MappedIndex
from corpus2skill.adapters.offline.navigator import NOT_FOUND_BELOW
from corpus2skill.adapters.offline.question import understand
from corpus2skill.application.evaluate import EvaluateOptions, evaluate, read_questions
from corpus2skill.application.wiring import open_workspace
from corpus2skill.settings import Settings

POOLED = ("lawqa-ja", "jsquad-wiki-ja", "aws-guides-en")
SHOWN = (*POOLED, "plans-ja")
HALVINGS = 200


@dataclass(frozen=True, slots=True)
class Match:
    """How much of one question the best leaves have, and whether the pack holds an answer."""

    value: float
    is_answerable: bool


def matches_of(pack: Path) -> list[Match]:
    settings = Settings()
    with tempfile.TemporaryDirectory() as folder:
        workspace = open_workspace(Path(folder), settings)
        options = EvaluateOptions(pack=pack)
        built = asyncio.run(
            evaluate(workspace, EvaluateOptions(pack=pack, limit=1), lambda _: None, lambda _done, _of: None)
        )
        index = MappedIndex(workspace.versions.lexical_folder(built.corpus, built.version))
        return [
            Match(index.rank(understand(one.question), 10).match, not one.unanswerable)
            for one in read_questions(options, settings.question_characters)
        ]


def judged(matches: list[Match], threshold: float) -> tuple[float, float]:
    """Recall over the unanswerable and the share of refusals among the answerable."""
    absent = [match.value < threshold for match in matches if not match.is_answerable]
    present = [match.value < threshold for match in matches if match.is_answerable]
    return sum(absent) / max(len(absent), 1), sum(present) / max(len(present), 1)


def chosen(matches: list[Match]) -> float:
    """The threshold with the highest recall less false refusals (Youden's J)."""
    candidates = sorted({match.value for match in matches})
    cuts = [(low + high) / 2 for low, high in pairwise(candidates)]

    def worth(threshold: float) -> float:
        recall, refusals = judged(matches, threshold)
        return recall - refusals

    return max(cuts, key=worth)


def halves(packs: dict[str, list[Match]], seed: int) -> tuple[list[Match], list[Match]]:
    chance = random.Random(seed)
    left: list[Match] = []
    right: list[Match] = []
    for matches in packs.values():
        dealt = chance.sample(matches, len(matches))
        left += dealt[: len(dealt) // 2]
        right += dealt[len(dealt) // 2 :]
    return left, right


def main() -> None:
    folder = Path(os.environ["CORPUS2SKILL_PACKS"])
    packs = {name: matches_of(folder / name) for name in sys.argv[1:] or SHOWN}
    pooled = {name: matches for name, matches in packs.items() if name in POOLED}
    print(f"{'':44}{'recall':>8}{'false refusals':>16}")

    def row(name: str, recall: float, refusals: float) -> None:
        print(f"{name:44}{recall:8.3f}{refusals:16.3f}")

    for name, matches in packs.items():
        row(f"{name}, the shipped threshold {NOT_FOUND_BELOW}", *judged(matches, NOT_FOUND_BELOW))
    everything = [match for matches in pooled.values() for match in matches]
    row("pooled (without plans-ja), shipped", *judged(everything, NOT_FOUND_BELOW))
    folds = [halves(pooled, seed) for seed in range(HALVINGS)]
    results = [judged(right, chosen(left)) for left, right in folds]
    row(
        f"pooled, set on one half, judged on the other ({HALVINGS})",
        sum(recall for recall, _ in results) / HALVINGS,
        sum(refusals for _, refusals in results) / HALVINGS,
    )
    for name, matches in pooled.items():
        others = [match for other, them in pooled.items() if other != name for match in them]
        if others:
            row(f"{name}, set on the other packs", *judged(matches, chosen(others)))


if __name__ == "__main__":
    main()
