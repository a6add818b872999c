"""Batches under way noted in memory."""

from __future__ import annotations

from dataclasses import replace

from corpus2skill.ports.batch_log import NotedBatch


class FakeBatchLog:
    """`ports.batch_log.BatchLog` without a database. `noted` has what is noted, by token."""

    def __init__(self) -> None:
        self.noted: dict[str, NotedBatch] = {}

    async def note(self, batch: NotedBatch) -> None:
        self.noted[batch.token] = batch

    async def name(self, token: str, batch_id: str | None) -> None:
        if token in self.noted:
            self.noted[token] = replace(self.noted[token], batch_id=batch_id)

    async def strike(self, token: str) -> None:
        self.noted.pop(token, None)

    async def open(self, corpus: str, identity: str) -> tuple[NotedBatch, ...]:
        return tuple(
            batch for batch in self.noted.values() if (batch.corpus, batch.identity) == (corpus, identity)
        )

    def left(self) -> tuple[NotedBatch, ...]:
        return tuple(self.noted.values())

    def close(self) -> None:
        pass
