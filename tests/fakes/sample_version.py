"""The article's little tree, written into a fake store: 解約手続き with 年額 and 月額, and 料金体系 beside it."""

from __future__ import annotations

from corpus2skill.compiler.write_tree import tree_files
from corpus2skill.domain.chunk import Chunk, ChunkSizes, ChunkSummary, Place, SummarizedChunk
from corpus2skill.domain.tree import Group, Tree, TreeLimits
from corpus2skill.domain.version import Engines, VersionContent
from corpus2skill.ports.store import VersionStamp
from tests.fakes.version_store import FakeVersionStore

CORPUS = "terms"
VERSION = 1

ROOT = "SKILL.md"
CANCELLATION = "cancellation/SKILL.md"
ANNUAL = "cancellation/annual/SKILL.md"
MONTHLY = "cancellation/monthly/SKILL.md"
PRICING = "pricing/SKILL.md"
ANNUAL_LEAF = "cancellation/annual/doc_chunk_7.md"
MONTHLY_LEAF = "cancellation/monthly/doc_chunk_5.md"
PRICING_LEAF = "pricing/doc_chunk_9.md"
ALL_PATHS = (ROOT, CANCELLATION, ANNUAL, MONTHLY, PRICING, ANNUAL_LEAF, MONTHLY_LEAF, PRICING_LEAF)

ANNUAL_BODY = "第12条（解約）\n年額プランの解約は、契約管理画面の「解約申請」から行うものとし、契約期間の末日までサービスを利用できる。日割りによる返金は行わない。"
_BODIES = {
    "chunk_7": ("年額プランの解約条件", ANNUAL_BODY),
    "chunk_5": ("月額プランの解約条件", "月額プランは、申請した月の末日で終了する。"),
    "chunk_9": ("従量課金の超過時の扱い", "上限を超えた分は、超過レートで加算する。"),
}


def sample_store() -> FakeVersionStore:
    """A store whose corpus `terms` has the tree as its active version 1."""
    store = FakeVersionStore()
    content = sample_content()
    stamp = VersionStamp(
        version=VERSION,
        predecessor=None,
        created_at="2026-04-01T09:00:00Z",
        product="0.1.0",
        title="利用規約",
    )
    store.write(content, stamp, tree_files(content))
    store.activate(CORPUS, VERSION)
    return store


def sample_content() -> VersionContent:
    annual = Group(slug="annual", title="年額プラン", summary="年額プランの解約。", member_ids=("chunk_7",))
    monthly = Group(slug="monthly", title="月額プラン", summary="月額プランの解約。", member_ids=("chunk_5",))
    cancellation = Group(
        slug="cancellation",
        title="解約手続き",
        summary="プラン別の解約方法と、利用できる期間の扱い。",
        groups=(annual, monthly),
    )
    pricing = Group(
        slug="pricing", title="料金体系", summary="固定料金と従量課金の内訳。", member_ids=("chunk_9",)
    )
    return VersionContent(
        corpus=CORPUS,
        language="ja",
        sizes=ChunkSizes(),
        limits=TreeLimits(),
        engines=Engines(summarizer="fake-1", grouper="fake-1"),
        tree=Tree(title="利用規約", summary="サンプルの利用規約。", groups=(cancellation, pricing)),
        chunks=tuple(_chunk(name) for name in _BODIES),
        twins=(),
        texts=(),
        reports=(),
        next_chunk_number=10,
    )


def _chunk(name: str) -> SummarizedChunk:
    title, body = _BODIES[name]
    chunk = Chunk(
        chunk_id=name,
        source="利用規約.docx",
        start=0,
        end=len(body),
        text=body,
        place=Place(headings=("第3章 解約", "第12条（解約）")),
    )
    return SummarizedChunk(chunk=chunk, summary=ChunkSummary(title=title, summary=f"{title}について。"))
