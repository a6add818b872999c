"""Small runs, for the suites of record stores."""

from __future__ import annotations

from corpus2skill.domain.message import Usage
from corpus2skill.domain.run import Heard, Outcome, RunIds, RunRecord, Source
from corpus2skill.domain.trail import Visit
from corpus2skill.domain.tree import Child

TENANT = "local"


def ids(
    run: str,
    *,
    tenant: str = TENANT,
    corpus: str = "terms",
    version: int = 1,
    session: str = "s",
    turn: int = 1,
) -> RunIds:
    return RunIds(tenant=tenant, corpus=corpus, version=version, session=session, turn=turn, run=run)


def visit(number: int, *, is_prefetched: bool = False, doc_id: str | None = None) -> Visit:
    return Visit(
        number=number,
        node=doc_id or "cancellation",
        path=f"cancellation/{doc_id}.md" if doc_id else "cancellation/SKILL.md",
        title="解約手続き",
        node_type="document" if doc_id else "skill_summary",
        status="found",
        reason="解約に関する記述を確認するため、この枝に降ります",
        has_reason=True,
        is_shared_reason=False,
        is_prefetched=is_prefetched,
        offered=(Child(name="annual", title="年額", summary="年額の解約。", node_type="skill_summary"),),
        doc_id=doc_id,
        model_ms=900,
        fetch_ms=1,
        elapsed_ms=910,
        usage=Usage(input_tokens=10, output_tokens=2),
        source="利用規約.docx" if doc_id else None,
        place="第12条" if doc_id else None,
    )


def record(
    run: str,
    *,
    tenant: str = TENANT,
    corpus: str = "terms",
    version: int = 1,
    session: str = "s",
    turn: int = 1,
    question: str = "年額プランの解約は？",
    answer: str = "末日までです。",
    outcome: Outcome = "answered",
    visits: tuple[Visit, ...] = (),
    heard: str | None = None,
    heard_before: Heard | None = None,
) -> RunRecord:
    evidence = (
        Source(
            doc_id="doc_chunk_7",
            title="年額プランの解約条件",
            source="利用規約.docx",
            place="第12条",
            path="cancellation/doc_chunk_7.md",
        ),
    )
    return RunRecord(
        ids=ids(run, tenant=tenant, corpus=corpus, version=version, session=session, turn=turn),
        channel="text",
        door="cli",
        language="ja",
        question=question,
        answer=answer,
        outcome=outcome,
        confidence="strong" if outcome == "answered" else None,
        visits=visits,
        evidence=evidence if outcome == "answered" else (),
        citations=evidence if outcome == "answered" else (),
        struck_citations=0,
        fetches=len(visits),
        rounds=len(visits) + 1,
        model="offline",
        prompt_version="1",
        usage=Usage(),
        usd=None,
        started_at="2026-04-01T09:00:00.000Z",
        ended_at="2026-04-01T09:00:01.000Z",
        total_ms=1000,
        heard=heard,
        heard_before=heard_before,
    )
