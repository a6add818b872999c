"""How cost grows with the work: compile, read a node, ask, at a size and at ten times that size.

usage: python benchmarks/scale.py [DOCUMENTS]      (default 200; the second size is ten times it)

Each size runs in a process of its own, so that its peak memory is its own. The peers in the same run: the
floor of a compile is reading every source and writing every file of the version once, as they are; the floor
of a node read is opening and reading that file.
"""

from __future__ import annotations

import asyncio
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

SUBJECTS = ["解約", "料金", "請求", "契約期間", "個人情報", "サポート", "権限", "通知", "連携", "障害"]
OBJECTS = ["年額プラン", "月額プラン", "管理者", "利用者", "申込書", "監査記録", "お支払い方法", "無料期間"]
ACTS = ["を変更する", "を確認する", "を停止する", "を再開する", "を申請する", "を削除する", "を更新する"]
PARAGRAPHS = 24
READS = 2000


def write_corpus(folder: Path, documents: int) -> int:
    """Write `documents` Markdown files of made-up Japanese clauses; return their bytes."""
    chance = random.Random(documents)
    total = 0
    for number in range(documents):
        file = folder / f"{number // 50:03}" / f"規程{number}.md"
        file.parent.mkdir(exist_ok=True)
        lines = [f"# 規程{number} {chance.choice(SUBJECTS)}について"]
        for article in range(PARAGRAPHS):
            subject, thing, act = (chance.choice(words) for words in (SUBJECTS, OBJECTS, ACTS))
            lines.append(f"## 第{article + 1}条({subject})")
            lines.append(
                f"{thing}の{subject}{act}ときは、{chance.randint(1, 30)}日前までに{chance.choice(OBJECTS)}を添えて"
                f"届け出るものとし、手数料は{chance.randint(1, 99) * 100}円とする。" * 2
            )
        text = "\n\n".join(lines) + "\n"
        total += file.write_bytes(text.encode("utf-8"))
    return total


def seconds(act: Callable[[], object], times: int = 1) -> float:
    began = time.perf_counter()
    for _ in range(times):
        act()
    return (time.perf_counter() - began) / times


def copy_floor(source: Path, version: Path, target: Path) -> None:
    """Read every source and write every file of the version once, with nothing in between."""
    for file in source.rglob("*.md"):
        file.read_bytes()
    for number, file in enumerate(path for path in version.rglob("*") if path.is_file()):
        (target / str(number)).write_bytes(file.read_bytes())


def measure(documents: int) -> dict[str, float]:
    """Measure one size in this process."""
    from corpus2skill.application.ask import Asking, AskOptions
    from corpus2skill.application.compile_documents import compile_documents
    from corpus2skill.application.compile_options import CompileOptions
    from corpus2skill.application.wiring import open_workspace
    from corpus2skill.navigator.tree_reader import TreeReader
    from corpus2skill.settings import Settings

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "docs").mkdir()
        size = write_corpus(folder / "docs", documents)
        workspace = open_workspace(folder / "workspace", Settings())
        options = CompileOptions(paths=[folder / "docs"])
        began = time.perf_counter()
        report = asyncio.run(compile_documents(workspace, options, lambda _: None))
        compiling = time.perf_counter() - began
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        again = seconds(lambda: asyncio.run(compile_documents(workspace, options, lambda _: None)))
        version = folder / "workspace" / "corpora" / "default" / "versions" / "1"
        (folder / "floor").mkdir()
        floor = seconds(lambda: copy_floor(folder / "docs", version, folder / "floor"))
        leaf = next(version.glob("tree/default/**/doc_chunk_*.md"))
        path = leaf.relative_to(version / "tree" / "default").as_posix()
        reader = TreeReader(store=workspace.versions, corpus="default", version=1)
        node_read = seconds(lambda: reader.node(path), READS)
        by_id = seconds(
            lambda: workspace.versions.chunk_row("default", 1, leaf.stem.removeprefix("doc_")), READS
        )
        file_read = seconds(lambda: leaf.read_bytes().decode("utf-8"), READS)

        async def ask_twice() -> tuple[float, float]:
            question = AskOptions(question="年額プランの解約を申請するときの手数料はいくらですか")
            began = time.perf_counter()
            async with Asking.of_version(workspace, "default", 1, None) as asking:
                opened = time.perf_counter()
                await asking.ask(question, lambda _: None)
                first = time.perf_counter()
                for _ in range(20):
                    await asking.ask(question, lambda _: None)
                last = time.perf_counter()
            return (opened - began) + (first - opened), (last - first) / 20

        cold, warm = asyncio.run(ask_twice())
        return {
            "documents": documents,
            "megabytes": size / 1e6,
            "chunks": report.manifest.chunks,
            "compile_s": compiling,
            "compile_over_floor": compiling / floor,
            "recompile_unchanged_s": again,
            "peak_mb": peak,
            "node_read_us": node_read * 1e6,
            "node_read_over_file_read": node_read / file_read,
            "doc_id_lookup_us": by_id * 1e6,
            "first_ask_ms": cold * 1e3,
            "ask_ms": warm * 1e3,
        }


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(measure(int(sys.argv[2]))))
        return
    small = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    rows = [
        json.loads(
            subprocess.run(
                [sys.executable, __file__, "--one", str(n)], stdout=subprocess.PIPE, check=True
            ).stdout
        )
        for n in (small, small * 10)
    ]
    print(f"{'':28}{'size':>12}{'ten times':>12}{'ratio':>8}")
    for key in rows[0]:
        one, ten = rows[0][key], rows[1][key]
        print(f"{key:28}{one:12.2f}{ten:12.2f}{ten / one:8.2f}")


if __name__ == "__main__":
    main()
