"""Paid results held in memory."""

from __future__ import annotations

from collections.abc import Collection

from corpus2skill.domain.model_call import Purpose, TextReply
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.ports.result_store import PaidResult, PastUsage


class FakeResultStore:
    """`ports.result_store.ResultStore` without a database.

    `results` has what is kept, by key. While `refusal` is set, nothing more is kept and it is raised.
    """

    def __init__(self) -> None:
        self.results: dict[str, PaidResult] = {}
        self.refusal: Corpus2SkillError | None = None

    async def find(self, key: str) -> TextReply | None:
        result = self.results.get(key)
        return None if result is None else result.reply

    async def keep(self, result: PaidResult) -> None:
        if self.refusal is not None:
            raise self.refusal
        self.results.setdefault(result.key, result)

    def past_usage(self, model: str, purpose: Purpose) -> PastUsage:
        past = [
            result for result in self.results.values() if result.model == model and result.purpose == purpose
        ]
        return PastUsage(
            calls=len(past),
            prompt_characters=sum(result.prompt_characters for result in past),
            input_tokens=sum(result.reply.usage.input_tokens for result in past),
            output_tokens=sum(result.reply.usage.output_tokens for result in past),
        )

    def forget(self, corpus: str, subjects: Collection[str]) -> int:
        gone = [
            key
            for key, result in self.results.items()
            if result.corpus == corpus and (not result.subject or result.subject in subjects)
        ]
        for key in gone:
            del self.results[key]
        return len(gone)

    def close(self) -> None:
        pass
