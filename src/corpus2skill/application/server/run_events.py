"""A run's events as they are kept and told: one JSON shape for the API, the screens, the widget and voice."""

from __future__ import annotations

from typing import assert_never

from corpus2skill.application.json_form import Json, to_json
from corpus2skill.domain.event_log import RUN_FINISHED, TEXT_DELTA, NewEvent
from corpus2skill.domain.run import (
    AnswerDelta,
    NodeVisited,
    RoundDelayed,
    RoundFinished,
    RoundStarted,
    RunEvent,
    RunFinished,
    RunRecord,
    RunStarted,
    Source,
)
from corpus2skill.domain.trail import Visit


def told(event: RunEvent) -> NewEvent | None:
    """Return `event` as it is told; None for the run's end, which is told when its record can be read."""
    match event:
        case RunStarted():
            return NewEvent(kind="run.started", payload=_started(event))
        case RoundStarted():
            return NewEvent(kind="round.started", payload={"round": event.round, "attempt": event.attempt})
        case RoundDelayed():
            return NewEvent(kind="round.delayed", payload=_delayed(event))
        case AnswerDelta():
            return NewEvent(kind=TEXT_DELTA, payload={"text": event.text})
        case NodeVisited():
            return NewEvent(kind="node.visited", payload=visit_form(event.visit))
        case RoundFinished():
            return NewEvent(kind="round.finished", payload={"round": event.round, "kind": event.kind})
        case RunFinished():
            return None
        case _:
            assert_never(event)


def told_end(record: RunRecord) -> NewEvent:
    """The last event of a run: what its record says, without the trail, whose visits were told."""
    return NewEvent(kind=RUN_FINISHED, payload={"state": "finished", **face_form(record)})


def replayed(record: RunRecord) -> list[NewEvent]:
    """The events of a finished run made from its record alone, when those that were told are kept no more."""
    started = RunStarted(
        ids=record.ids,
        question=record.question,
        model=record.model,
        channel=record.channel,
        language=record.language,
    )
    visits = [NewEvent(kind="node.visited", payload=visit_form(visit)) for visit in record.visits]
    return [NewEvent(kind="run.started", payload=_started(started)), *visits, told_end(record)]


def _started(event: RunStarted) -> dict[str, object]:
    ids = event.ids
    return {
        "run_id": ids.run,
        "session_id": ids.session,
        "turn": ids.turn,
        "corpus": ids.corpus,
        "version": ids.version,
        "question": event.question,
        "model": event.model,
        "channel": event.channel,
        "language": event.language,
    }


def _delayed(event: RoundDelayed) -> dict[str, object]:
    return {"round": event.round, "attempt": event.attempt, "seconds": event.seconds}


def visit_form(visit: Visit) -> dict[str, object]:
    """A visit, live and in records. `reason` is null where the model wrote none."""
    return {
        "n": visit.number,
        "path": visit.path,
        "title": visit.title,
        "node": visit.node,
        "node_type": visit.node_type,
        "status": visit.status,
        "reason": visit.reason if visit.has_reason else None,
        "is_shared_reason": visit.is_shared_reason,
        "is_prefetched": visit.is_prefetched,
        "offered": [{"name": child.name, "title": child.title} for child in visit.offered],
        "model_ms": visit.model_ms,
        "fetch_ms": visit.fetch_ms,
        "elapsed_ms": visit.elapsed_ms,
        "doc_id": visit.doc_id,
        "source": visit.source,
        "place": visit.place,
        "is_cut": visit.is_cut,
    }


def face_form(record: RunRecord) -> dict[str, object]:
    """What the asker may know of a finished run, but for its trail."""
    return {
        "run_id": record.ids.run,
        "session_id": record.ids.session,
        "turn": record.ids.turn,
        "corpus": record.ids.corpus,
        "version": record.ids.version,
        "channel": record.channel,
        "language": record.language,
        "question": record.question,
        "answer": record.answer,
        "outcome": record.outcome,
        "confidence": record.confidence,
        "is_truncated": record.is_truncated,
        "is_doubtful": record.is_doubtful,
        "citations": source_forms(record.citations),
        "evidence": source_forms(record.evidence),
        "fetches": record.fetches,
        "rounds": record.rounds,
        "model": record.model,
        "started_at": record.started_at,
        "ended_at": record.ended_at,
        "total_ms": record.total_ms,
    }


def source_forms(sources: tuple[Source, ...]) -> list[Json]:
    """Sources with their numbers from 1: of citations those that stand in the answer."""
    return [
        {"n": number, **fields}
        for number, source in enumerate(sources, start=1)
        if isinstance(fields := to_json(source), dict)
    ]
