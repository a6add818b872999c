"""The audit records: list, show, verify, export."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice

from corpus2skill.application.csv_form import csv_row
from corpus2skill.application.json_form import to_json
from corpus2skill.application.wiring import TENANT, Workspace
from corpus2skill.domain.feedback import Feedback
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.run import RunRecord, Source
from corpus2skill.errors import InvalidInput
from corpus2skill.ports.store import ChainVerdict, RecordFilter, RecordStore

CSV_COLUMNS = (
    "run",
    "started_at",
    "ended_at",
    "corpus",
    "version",
    "session",
    "turn",
    "channel",
    "door",
    "user",
    "language",
    "question",
    "answer",
    "outcome",
    "confidence",
    "trail",
    "reasons",
    "evidence",
    "citations",
    "struck_citations",
    "quotations",
    "unheld_quotations",
    "fetches",
    "rounds",
    "model",
    "prompt_version",
    "input_tokens",
    "output_tokens",
    "usd",
    "total_ms",
    "error_class",
    "step_ms",
    "rating",
    "feedback_reasons",
    "comment",
    "feedback_at",
)
_PAGE = 200
Judged = tuple[RunRecord, Feedback | None]
"""A record and what was said of its answer."""
_HEAD = re.compile("[0-9a-f]{64}")
_LONGEST_DATE = len("2026-04-01")


def moment(text: str, *, is_end: bool = False) -> str:
    """Return a date or time as records have times: UTC, where no offset says otherwise.

    A date alone is the beginning of that day, or, where it `is_end`, of the day after: the end is included.

    Raises:
        InvalidInput: it is neither.
    """
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is None:
            time = time.replace(tzinfo=UTC)
        if is_end and len(text) <= _LONGEST_DATE:
            time += timedelta(days=1)
        utc = time.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise InvalidInput("not_a_time", text=text) from error
    return moment_of(utc)


def list_records(workspace: Workspace, which: RecordFilter, tenant: str = TENANT) -> Iterator[RunRecord]:
    """Yield records, newest first, read as they are asked for."""
    with opened_records(workspace) as records:
        yield from records.records(tenant, which)


def show_record(workspace: Workspace, run: str, tenant: str = TENANT) -> RunRecord:
    """Raises: RecordNotFound. A unique beginning of the id is enough."""
    with opened_records(workspace) as records:
        return records.record(tenant, run)


def verify_records(
    workspace: Workspace, tenant: str = TENANT, *, kept_head: str | None = None
) -> ChainVerdict:
    """Recompute the chain from the first record, and look for a head that was kept elsewhere.

    Raises:
        InvalidInput: that is no head.
    """
    if kept_head is not None:
        kept_head = kept_head.strip().lower()
        if _HEAD.fullmatch(kept_head) is None:
            raise InvalidInput("not_a_head", text=kept_head[:80])
    with opened_records(workspace) as records:
        return records.verify(tenant, kept_head)


def judged_records(workspace: Workspace, which: RecordFilter, tenant: str = TENANT) -> Iterator[Judged]:
    """Yield records as `list_records`, each with what was said of it."""
    with opened_records(workspace) as records:
        found = records.records(tenant, which)
        while page := list(islice(found, _PAGE)):
            said = records.feedback(tenant, [record.ids.run for record in page])
            for record in page:
                yield record, said.get(record.ids.run)


def export_jsonl(records: Iterable[Judged]) -> Iterator[str]:
    """Yield one line of JSON a record, with everything that is in it; ASCII where UTF-8 cannot spell it."""
    for record, feedback in records:
        fields = to_json(record)
        assert isinstance(fields, Mapping)
        plain = fields if feedback is None else {**fields, "feedback": to_json(feedback)}
        line = json.dumps(plain, ensure_ascii=False)
        yield (line if _is_spellable(line) else json.dumps(plain)) + "\n"


def export_csv(records: Iterable[Judged]) -> Iterator[str]:
    """Yield a header row, then one row a record; no cell can be taken for a formula."""
    yield csv_row(CSV_COLUMNS)
    for record, feedback in records:
        row = {**_row(record), **_said(feedback)}
        yield csv_row(row[column] for column in CSV_COLUMNS)


@contextmanager
def opened_records(workspace: Workspace) -> Generator[RecordStore]:
    """The records for as long as the block lasts."""
    records = workspace.records()
    try:
        yield records
    finally:
        records.close()


def _row(record: RunRecord) -> dict[str, str | int | float | None]:
    return {
        "run": record.ids.run,
        "started_at": record.started_at,
        "ended_at": record.ended_at,
        "corpus": record.ids.corpus,
        "version": record.ids.version,
        "session": record.ids.session,
        "turn": record.ids.turn,
        "channel": record.channel,
        "door": record.door,
        "user": record.user,
        "language": record.language,
        "question": record.question,
        "answer": record.answer,
        "outcome": record.outcome,
        "confidence": record.confidence,
        "trail": " > ".join(visit.path for visit in record.visits),
        "reasons": " > ".join(visit.reason for visit in record.visits),
        "evidence": " ".join(source.doc_id for source in record.evidence),
        "citations": " | ".join(map(_cited, record.citations)),
        "struck_citations": record.struck_citations,
        "quotations": len(record.quotations),
        "unheld_quotations": len(record.unheld_quotations),
        "fetches": record.fetches,
        "rounds": record.rounds,
        "model": record.model,
        "prompt_version": record.prompt_version,
        "input_tokens": record.usage.input_tokens,
        "output_tokens": record.usage.output_tokens,
        "usd": record.usd,
        "total_ms": record.total_ms,
        "error_class": record.error_class,
        "step_ms": " > ".join(str(visit.elapsed_ms) for visit in record.visits),
    }


def _said(feedback: Feedback | None) -> dict[str, str | int | float | None]:
    if feedback is None:
        return dict.fromkeys(("rating", "feedback_reasons", "comment", "feedback_at"))
    return {
        "rating": "helpful" if feedback.is_helpful else "not_helpful",
        "feedback_reasons": " ".join(feedback.reasons),
        "comment": feedback.comment,
        "feedback_at": feedback.given_at,
    }


def _cited(source: Source) -> str:
    return f"{source.doc_id}: {source.source} › {source.place}"


def _is_spellable(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
