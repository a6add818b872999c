"""What the offline engine reads and refuses on the question packs, and whether its tree helps.

usage: CORPUS2SKILL_PACKS=FOLDER python benchmarks/packs.py [PACK ...]

Each pack is asked with 8 and with 7 fetches on the tree that the compiler made, and on a random tree of the
same shape: the same nodes, titles and limits with the leaves dealt out anew. A navigator that knows the texts
does not need a good tree to find a page among a hundred; the difference between the two columns is what the
tree itself is worth.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from statistics import mean

from corpus2skill.adapters.offline.lexical_index import OfflineLexicalIndex
from corpus2skill.application.evaluate import EvaluateOptions, Evaluation, evaluate
from corpus2skill.application.scores import Scores
from corpus2skill.application.wiring import Workspace, open_workspace
from corpus2skill.compiler.load_version import load_version
from corpus2skill.compiler.write_tree import lexical_files, tree_files
from corpus2skill.domain.tree import Group, Tree
from corpus2skill.ports.store import VersionStamp
from corpus2skill.settings import Settings

PACKS = ("lawqa-ja", "jsquad-wiki-ja", "plans-ja", "aws-guides-en")
SEEDS = tuple(range(1, 9))
SHOWN = (
    "doc_hit",
    "doc_hit_ci95",
    "first_leaf_hit",
    "leaves_mean",
    "fetches_mean",
    "fetches_max",
    "not_found_recall",
    "false_refusals",
    "citation_precision",
    "reason_share",
    "ms_p50",
    "ms_p95",
)


def asked(workspace: Workspace, pack: Path) -> Evaluation:
    return asyncio.run(
        evaluate(workspace, EvaluateOptions(pack=pack), lambda _: None, lambda _done, _of: None)
    )


def dealt_out(tree: Tree, seed: int) -> Tree:
    """The same tree with its leaves in random places."""
    names = list(tree.chunk_ids())
    random.Random(seed).shuffle(names)
    deck = iter(names)

    def dealt(group: Group) -> Group:
        inner = tuple(dealt(child) for child in group.groups)
        return replace(group, groups=inner, member_ids=tuple(next(deck) for _ in group.member_ids))

    return replace(tree, groups=tuple(dealt(group) for group in tree.groups))


def write_random(workspace: Workspace, evaluation: Evaluation, seed: int) -> int:
    """Write the random tree as the corpus's active version; return its number."""
    store, corpus = workspace.versions, evaluation.corpus
    content = load_version(store, corpus, evaluation.version)
    content = replace(content, tree=dealt_out(content.tree, seed))
    manifest = store.manifest(corpus, evaluation.version)
    stamp = VersionStamp(
        version=store.next_version(corpus),
        predecessor=evaluation.version,
        created_at=manifest.created_at,
        product=manifest.product,
        title=manifest.title,
    )
    files = [*tree_files(content), *lexical_files(content, OfflineLexicalIndex())]
    store.write(content, stamp, files)
    store.activate(corpus, stamp.version)
    return stamp.version


def measure(pack: Path, folder: Path) -> None:
    at_8 = open_workspace(folder, Settings(fetch_limit=8))
    at_7 = open_workspace(folder, Settings(fetch_limit=7))
    began = time.perf_counter()
    built = asked(at_8, pack)
    seconds = time.perf_counter() - began
    columns = {"tree, 8": built.scores, "tree, 7": asked(at_7, pack).scores}
    write_random(at_8, built, seed=1)
    columns["random, 8"] = asked(at_8, pack).scores
    on_random: list[Scores] = []
    for seed in SEEDS:
        write_random(at_8, built, seed)
        on_random.append(asked(at_7, pack).scores)
    columns["random, 7"] = on_random[0]
    manifest = at_8.versions.manifest(built.corpus, built.version)
    print(f"\n{pack.name}: {manifest.sources} sources, {manifest.chunks} leaves, depth {manifest.depth}")
    print(f"compiled and asked {built.scores.questions} questions in {seconds:.1f} s")
    print(f"{'':22}" + "".join(f"{name:>18}" for name in columns))
    for name in SHOWN:
        print(f"{name:22}" + "".join(f"{getattr(scores, name)!s:>18}" for scores in columns.values()))
    hits = [scores.doc_hit or 0.0 for scores in on_random]
    print(f"doc_hit with 7 fetches on random trees, seeds {SEEDS}: {hits}, mean {mean(hits):.4f}")


def main() -> None:
    packs = Path(os.environ["CORPUS2SKILL_PACKS"])
    for name in sys.argv[1:] or PACKS:
        with tempfile.TemporaryDirectory() as folder:
            measure(packs / name, Path(folder))


if __name__ == "__main__":
    main()
