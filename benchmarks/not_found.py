"""How well one not-found rule tells, on questions it was not set on.

usage: CORPUS2SKILL_PACKS=FOLDER python benchmarks/not_found.py [PACK ...]

The rule: a question is not found where its match (adapters/offline/mapped_index.py) is below a threshold. It is
judged on the question packs and on the small corpora beside this file: `tune/` was looked at while the rule was
made, `held_out/` was not. The threshold is set anew on half of all questions, to the highest recall less twice the
false refusals over both sorts of corpora, and judged on the other half (200 random halvings, the shares of each
corpus kept), and on all packs but one and judged on that one. The shipped threshold is judged on everything. The
form of the rule was chosen on the packs and `tune/`: expect a little less on others.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from corpus2skill.adapters.offline.mapped_index import MappedIndex
from corpus2skill.adapters.offline.navigator import NOT_FOUND_BELOW, WEAK_BELOW
from corpus2skill.adapters.offline.question import understand
from corpus2skill.application.evaluate import EvaluateOptions, evaluate, read_questions
from corpus2skill.application.wiring import open_workspace
from corpus2skill.settings import Settings

POOLED = ("lawqa-ja", "jsquad-wiki-ja", "aws-guides-en")
SHOWN = (*POOLED, "plans-ja")
SMALL = Path(__file__).parent / "small_corpora"
HALVINGS = 200
COST_OF_A_REFUSAL = 2.0
"""Of refusing what is there, beside finding what is not: a weak match with its source can be checked, a denial cannot."""


@dataclass(frozen=True, slots=True)
class Match:
    """How much of one question the best leaves have, and whether the corpus holds an answer."""

    value: float
    is_answerable: bool


Matches = list[Match]


def matches_of(pack: Path) -> Matches:
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


def all_of(folder: Path) -> dict[str, Matches]:
    return {pack.name: matches_of(pack) for pack in sorted(folder.iterdir()) if pack.is_dir()}


def pooled(corpora: Mapping[str, Matches]) -> Matches:
    return [match for matches in corpora.values() for match in matches]


def judged(matches: Matches, threshold: float) -> tuple[float, float]:
    """Recall over the unanswerable and the share of refusals among the answerable."""
    absent = [match.value < threshold for match in matches if not match.is_answerable]
    present = [match.value < threshold for match in matches if match.is_answerable]
    return sum(absent) / max(len(absent), 1), sum(present) / max(len(present), 1)


def chosen(sorts: Iterable[Matches]) -> float:
    """The threshold with the highest recall less the cost of false refusals, summed over the sorts."""
    known = list(sorts)
    candidates = sorted({match.value for matches in known for match in matches})
    cuts = [(low + high) / 2 for low, high in pairwise(candidates)]

    def worth(threshold: float) -> float:
        rates = [judged(matches, threshold) for matches in known if matches]
        return sum(recall - COST_OF_A_REFUSAL * refusals for recall, refusals in rates)

    return max(cuts, key=worth)


def halves(corpora: Mapping[str, Matches], seed: int) -> tuple[Matches, Matches]:
    chance = random.Random(seed)
    left: Matches = []
    right: Matches = []
    for matches in corpora.values():
        dealt = chance.sample(matches, len(matches))
        left += dealt[: len(dealt) // 2]
        right += dealt[len(dealt) // 2 :]
    return left, right


def row(name: str, rates: tuple[float, float]) -> None:
    print(f"{name:64}{rates[0]:8.3f}{rates[1]:16.3f}")


def cross_validated(packs: Mapping[str, Matches], small: Mapping[str, Matches]) -> None:
    folds = [(halves(packs, seed), halves(small, seed)) for seed in range(HALVINGS)]
    thresholds = [chosen((of_packs[0], of_small[0])) for of_packs, of_small in folds]
    print(f"\nthresholds set on one half: {min(thresholds):.2f} to {max(thresholds):.2f}")
    for name, number in (("packs", 0), ("small, tune", 1)):
        rates = [
            judged(fold[number][1], threshold) for fold, threshold in zip(folds, thresholds, strict=True)
        ]
        mean = sum(rate[0] for rate in rates) / HALVINGS, sum(rate[1] for rate in rates) / HALVINGS
        row(f"{name}, set on one half of both, judged on the other ({HALVINGS})", mean)
    for name, matches in packs.items():
        others = {other: them for other, them in packs.items() if other != name}
        row(
            f"{name}, set on the other packs and small, tune",
            judged(matches, chosen((pooled(others), pooled(small)))),
        )


def main() -> None:
    folder = Path(os.environ["CORPUS2SKILL_PACKS"])
    packs = {name: matches_of(folder / name) for name in sys.argv[1:] or SHOWN}
    tune, held_out = all_of(SMALL / "tune"), all_of(SMALL / "held_out")
    heading = f"shipped threshold {NOT_FOUND_BELOW}, weak below {WEAK_BELOW}"
    print(f"{heading:64}{'recall':>8}{'false refusals':>16}")
    for name, matches in (packs | tune | held_out).items():
        row(name, judged(matches, NOT_FOUND_BELOW))
    counted = {name: matches for name, matches in packs.items() if name in POOLED}
    sorts = (
        ("packs pooled (without plans-ja)", counted),
        ("small, tune", tune),
        ("small, held out", held_out),
    )
    for name, corpora in sorts:
        row(name, judged(pooled(corpora), NOT_FOUND_BELOW))
    for name, corpora in sorts:
        row(f"{name}: not found or weak", judged(pooled(corpora), WEAK_BELOW))
    cross_validated(counted, tune)
    threshold = chosen((pooled(counted), pooled(tune)))
    row(
        f"small, held out, set on packs and small, tune ({threshold:.2f})",
        judged(pooled(held_out), threshold),
    )


if __name__ == "__main__":
    main()
