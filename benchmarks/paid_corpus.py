"""Made-up documents whose chunks are known beforehand, for the benchmarks of paid compiles."""

from __future__ import annotations

import random
from pathlib import Path

SECTIONS = 20
"""Chunks of each document: a heading begins a chunk of its own."""
_SUBJECTS = (
    "解約",
    "料金",
    "請求",
    "契約期間",
    "個人情報",
    "サポート",
    "権限",
    "通知",
    "連携",
    "障害",
    "監査",
    "移行",
)
_THINGS = (
    "年額プラン",
    "月額プラン",
    "管理者",
    "利用者",
    "申込書",
    "監査記録",
    "お支払い方法",
    "無料期間",
    "API 連携",
)
_ACTS = ("変更する", "確認する", "停止する", "再開する", "申請する", "削除する", "更新する", "引き継ぐ")
_SENTENCES = 8


def write_documents(folder: Path, chunks: int) -> None:
    """Write Markdown documents that are cut into exactly `chunks` chunks (a multiple of 20) of about 500 characters."""
    chance = random.Random(chunks)
    for number in range(chunks // SECTIONS):
        file = folder / f"{number // 50:03}" / f"規程{number}.md"
        file.parent.mkdir(parents=True, exist_ok=True)
        sections = (
            f"## 第{article + 1}条({chance.choice(_SUBJECTS)})\n\n{_clause(chance)}"
            for article in range(SECTIONS)
        )
        title = f"# 規程{number} {chance.choice(_THINGS)}の{chance.choice(_SUBJECTS)}について"
        file.write_text("\n\n".join((title, *sections)) + "\n", encoding="utf-8")


def _clause(chance: random.Random) -> str:
    return "".join(
        f"{chance.choice(_THINGS)}の{chance.choice(_SUBJECTS)}を{chance.choice(_ACTS)}ときは、{chance.randint(1, 90)}日前までに"
        f"{chance.choice(_THINGS)}を添えて届け出るものとし、手数料は{chance.randint(1, 9999) * 10}円とする。"
        for _ in range(_SENTENCES)
    )
