"""The chain of a tenant's records: each holds the hash of the one before it.

The hash covers the header, the SHA-256 of the payload and the previous hash. A payload can therefore be
replaced by a tombstone and the chain still verifies; anything else that is changed, taken out or moved shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from corpus2skill.adapters.store.encoding import canonical, encode, sha256
from corpus2skill.domain.run import RunRecord
from corpus2skill.ports.store import ChainVerdict, Fault

GENESIS = "0" * 64
"""What stands before the first record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """A record as the chain sees it."""

    header: dict[str, str | int]
    payload: str | None
    payload_sha256: str
    previous_hash: str
    hash: str
    tombstoned_at: str | None = None

    @property
    def seq(self) -> int:
        return int(self.header["seq"])


def make_link(record: RunRecord, previous: Link | None) -> Link:
    """Return the link of `record` that follows `previous`."""
    payload = encode(record)
    header = _header(record, 1 if previous is None else previous.seq + 1)
    previous_hash = GENESIS if previous is None else previous.hash
    digest = sha256(payload)
    return Link(
        header=header,
        payload=payload.decode("utf-8"),
        payload_sha256=digest,
        previous_hash=previous_hash,
        hash=_hash(header, digest, previous_hash),
    )


def check_chain(links: Iterable[Link], kept_head: str | None = None) -> ChainVerdict:
    """Recompute a whole chain, its links in the order of their numbers, and look for a head that was kept."""
    faults: list[Fault] = []
    records, before, previous_hash = 0, 0, GENESIS
    kept_head_at = 0 if kept_head == GENESIS else None
    for link in links:
        faults.extend(_faults(link, before, previous_hash))
        records, before, previous_hash = records + 1, link.seq, link.hash
        if link.hash == kept_head:
            kept_head_at = link.seq
    if kept_head is not None and kept_head_at is None:
        faults.append(Fault(code="head_missing", file=kept_head))
    return ChainVerdict(records=records, head=previous_hash, faults=tuple(faults), kept_head_at=kept_head_at)


def storable(text: str) -> str:
    """Return `text` as a database takes it: lone surrogates and NUL written out."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "\\x00")


def _header(record: RunRecord, seq: int) -> dict[str, str | int]:
    ids = record.ids
    return {
        "tenant": storable(ids.tenant),
        "seq": seq,
        "run": storable(ids.run),
        "corpus": storable(ids.corpus),
        "version": ids.version,
        "session": storable(ids.session),
        "turn": ids.turn,
        "channel": record.channel,
        "door": record.door,
        "language": record.language,
        "outcome": record.outcome,
        "model": storable(record.model),
        "prompt_version": storable(record.prompt_version),
        "started_at": record.started_at,
        "ended_at": record.ended_at,
    }


def _hash(header: dict[str, str | int], payload_sha256: str, previous_hash: str) -> str:
    return sha256(b"\n".join((canonical(header), payload_sha256.encode(), previous_hash.encode())))


def _faults(link: Link, before: int, previous_hash: str) -> Iterator[Fault]:
    run = str(link.header["run"])
    if link.seq > before + 1:
        missing = f"{before + 1}" if link.seq == before + 2 else f"{before + 1}-{link.seq - 1}"
        yield Fault(code="record_missing", file=missing, detail=run)
    elif link.previous_hash != previous_hash:
        yield Fault(code="record_out_of_order", file=run, detail=str(link.seq))
    if not _is_intact(link):
        yield Fault(code="record_changed", file=run, detail=str(link.seq))


def _is_intact(link: Link) -> bool:
    if link.hash != _hash(link.header, link.payload_sha256, link.previous_hash):
        return False
    if link.payload is None:
        return link.tombstoned_at is not None
    is_same = sha256(link.payload.encode("utf-8")) == link.payload_sha256
    return is_same and link.tombstoned_at is None
