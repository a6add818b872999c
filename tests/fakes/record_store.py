"""Run records held in memory."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from corpus2skill.domain.feedback import Feedback
from corpus2skill.domain.message import Usage
from corpus2skill.domain.run import RunIds, RunRecord, Source
from corpus2skill.domain.session import Session
from corpus2skill.domain.trail import Visit
from corpus2skill.domain.turns import turns_of
from corpus2skill.domain.usage import UsageLine
from corpus2skill.errors import RecordNotFound
from corpus2skill.ports.clock import Clock
from corpus2skill.ports.store import ChainVerdict, Fault, RecordFilter

_NO_HEAD = "0" * 64


@dataclass(slots=True, kw_only=True)
class _Open:
    opening: RunRecord
    lease_until: float
    visits: list[Visit]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Link:
    record: RunRecord
    sha256: str
    """Of the link before and this record."""
    is_tombstone: bool = False


class FakeRecordStore:
    """`ports.store.RecordStore` without a database. Leases run by `clock`.

    `closed` has every record in the order of closing, over all tenants.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open: dict[RunIds, _Open] = {}
        self._chains: dict[str, list[_Link]] = {}
        self._feedback: dict[tuple[str, str], Feedback] = {}
        self.closed: list[RunRecord] = []

    @property
    def open_runs(self) -> tuple[RunIds, ...]:
        return tuple(self._open)

    def open_run(self, ids: RunIds, opening: RunRecord, lease_seconds: float) -> int:
        until = self._clock.now().timestamp() + lease_seconds
        taken = [
            run.turn
            for run in (*self._open, *(link.record.ids for link in self._chain(ids.tenant)))
            if (run.tenant, run.session) == (ids.tenant, ids.session)
        ]
        ids = replace(ids, turn=max((ids.turn - 1, *taken)) + 1)
        self._open[ids] = _Open(opening=replace(opening, ids=ids), lease_until=until, visits=[])
        return ids.turn

    def add_visit(self, ids: RunIds, visit: Visit) -> None:
        if ids in self._open:
            others = [other for other in self._open[ids].visits if other.number != visit.number]
            self._open[ids].visits[:] = [*others, visit]

    def close_run(self, record: RunRecord) -> None:
        self._open.pop(record.ids, None)
        chain = self._chains.setdefault(record.ids.tenant, [])
        if any(link.record.ids.run == record.ids.run for link in chain):
            return
        chain.append(_Link(record=record, sha256=_hash(_head(chain), record)))
        self.closed.append(record)

    def close_dead(self) -> int:
        now = self._clock.now().timestamp()
        dead = [held for held in self._open.values() if held.lease_until <= now]
        for held in dead:
            self.close_run(_stopped(held))
        return len(dead)

    def close_abandoned(self, tenant: str, run: str) -> bool:
        dead = [held for ids, held in self._open.items() if (ids.tenant, ids.run) == (tenant, run)]
        for held in dead:
            self.close_run(_stopped(held))
        return bool(dead)

    def under_way(self, tenant: str, which: RecordFilter) -> int:
        openings = (held.opening for ids, held in self._open.items() if ids.tenant == tenant)
        return sum(which.takes(opening) for opening in openings)

    def spent(self, tenant: str, *, session: str | None = None, since: datetime | None = None) -> float:
        return sum(
            link.record.usd or 0.0
            for link in self._chain(tenant)
            if session in (None, link.record.ids.session)
            and (since is None or datetime.fromisoformat(link.record.started_at) >= since)
        )

    def usage(self, tenant: str, since: str, until: str) -> tuple[UsageLine, ...]:
        sums: dict[tuple[str, str, str], UsageLine] = {}
        for record in (link.record for link in self._chain(tenant)):
            key = (record.started_at[:10], record.ids.corpus, record.model)
            if not since <= key[0] < until:
                continue
            line = sums.get(key) or UsageLine(day=key[0], corpus=key[1], model=key[2], purpose="navigate")
            sums[key] = replace(
                line,
                calls=line.calls + 1,
                input_tokens=line.input_tokens + record.usage.input_tokens,
                output_tokens=line.output_tokens + record.usage.output_tokens,
                dollars=line.dollars + (record.usd or 0.0),
                unpriced=line.unpriced + (record.usd is None),
            )
        return tuple(sums[key] for key in sorted(sums))

    def put_feedback(self, tenant: str, run: str, feedback: Feedback) -> None:
        if run not in {link.record.ids.run for link in self._kept(tenant)}:
            raise RecordNotFound(run=run)
        self._feedback[tenant, run] = feedback

    def feedback(self, tenant: str, runs: Collection[str]) -> Mapping[str, Feedback]:
        return {run: self._feedback[tenant, run] for run in runs if (tenant, run) in self._feedback}

    def tombstone(self, tenant: str, runs: Collection[str]) -> None:
        for run in runs:
            self._feedback.pop((tenant, run), None)
        chain = self._chain(tenant)
        chain[:] = [
            replace(
                link,
                record=replace(link.record, question="", answer="", user=None, visits=()),
                is_tombstone=True,
            )
            if link.record.ids.run in runs
            else link
            for link in chain
        ]

    def session(self, tenant: str, session: str, corpus: str) -> Session:
        records = sorted(
            (link.record for link in self._kept(tenant) if link.record.ids.session == session),
            key=lambda record: record.ids.turn,
        )
        return Session(
            session_id=session,
            turns=turns_of([record for record in records if record.ids.corpus == corpus]),
            last_turn=max((record.ids.turn for record in records), default=0),
        )

    def record(self, tenant: str, run: str) -> RunRecord:
        found = [link.record for link in self._kept(tenant) if run and link.record.ids.run.startswith(run)]
        exact = [record for record in found if record.ids.run == run]
        if len(exact or found) != 1:
            raise RecordNotFound(run=run)
        return (exact or found)[0]

    def records(self, tenant: str, which: RecordFilter) -> Iterator[RunRecord]:
        numbers = {link.record.ids.run: number for number, link in enumerate(self._chain(tenant))}
        newest_first = (link.record for link in reversed(self._kept(tenant)))
        chosen = [
            record
            for record in newest_first
            if which.takes(record)
            and self._is_judged(record, which)
            and (which.before is None or numbers[record.ids.run] < numbers.get(which.before, 0))
        ]
        return iter(chosen[: which.limit])

    def _is_judged(self, record: RunRecord, which: RecordFilter) -> bool:
        feedback = self._feedback.get((record.ids.tenant, record.ids.run))
        is_helpful = None if feedback is None else feedback.is_helpful
        has_comment = feedback is not None and feedback.comment is not None
        return which.is_helpful in (None, is_helpful) and which.has_comment in (None, has_comment)

    def cited_versions(self, tenant: str, corpus: str) -> frozenset[int]:
        closed = (link.record.ids for link in self._kept(tenant))
        ids = (*closed, *(ids for ids in self._open if ids.tenant == tenant))
        return frozenset(run.version for run in ids if run.corpus == corpus)

    def verify(self, tenant: str, kept_head: str | None = None) -> ChainVerdict:
        chain = self._chain(tenant)
        heads = [_NO_HEAD, *(link.sha256 for link in chain)]
        kept_head_at = heads.index(kept_head) if kept_head in heads else None
        faults: list[Fault] = []
        before = _NO_HEAD
        for link in chain:
            if not link.is_tombstone and link.sha256 != _hash(before, link.record):
                faults.append(Fault(code="record_changed", file=link.record.ids.run))
            before = link.sha256
        if kept_head is not None and kept_head_at is None:
            faults.append(Fault(code="head_missing", file=kept_head))
        return ChainVerdict(records=len(chain), head=before, faults=tuple(faults), kept_head_at=kept_head_at)

    def close(self) -> None:
        pass

    def _kept(self, tenant: str) -> list[_Link]:
        return [link for link in self._chain(tenant) if not link.is_tombstone]

    def _chain(self, tenant: str) -> list[_Link]:
        return self._chains.get(tenant, [])


def _stopped(held: _Open) -> RunRecord:
    """What is known of a run whose owner died."""
    usage = sum((visit.usage for visit in held.visits), Usage())
    leaves = {visit.doc_id: visit for visit in held.visits if visit.doc_id and visit.status == "found"}
    return replace(
        held.opening,
        outcome="stopped",
        confidence=None,
        visits=tuple(held.visits),
        evidence=tuple(
            Source(
                doc_id=doc_id,
                title=visit.title,
                source=visit.source or "",
                place=visit.place or "",
                path=visit.path,
            )
            for doc_id, visit in leaves.items()
        ),
        fetches=sum(not visit.is_prefetched for visit in held.visits),
        rounds=sum(not (visit.is_prefetched or visit.is_shared_reason) for visit in held.visits),
        usage=usage,
        usd=held.opening.usd if usage == Usage() else None,
        error_class="LeaseLapsed",
    )


def _head(chain: list[_Link]) -> str:
    return chain[-1].sha256 if chain else _NO_HEAD


def _hash(before: str, record: RunRecord) -> str:
    return hashlib.sha256((before + json.dumps(asdict(record), sort_keys=True)).encode()).hexdigest()
