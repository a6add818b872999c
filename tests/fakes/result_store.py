"""Paid results held in memory."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from corpus2skill.domain.model_call import Purpose, TextReply
from corpus2skill.domain.usage import SpentCall, UsageLine, day_of
from corpus2skill.errors import Corpus2SkillError
from corpus2skill.ports.result_store import PaidResult, PastUsage


class FakeResultStore:
    """`ports.result_store.ResultStore` without a database.

    `results` has what is kept, by key. While `refusal` is set, nothing more is kept and it is raised.
    """

    def __init__(self) -> None:
        self.results: dict[str, PaidResult] = {}
        self.paid: list[SpentCall] = []
        self.refusal: Corpus2SkillError | None = None

    async def find(self, key: str) -> TextReply | None:
        result = self.results.get(key)
        return None if result is None else result.reply

    async def keep(self, result: PaidResult) -> None:
        if self.refusal is not None:
            raise self.refusal
        if result.key not in self.results:
            self.results[result.key] = result
            self.paid.append(
                SpentCall(
                    corpus=result.corpus,
                    model=result.model,
                    purpose=result.purpose,
                    usage=result.reply.usage,
                    dollars=result.dollars,
                    paid_at=result.paid_at,
                )
            )

    async def note(self, call: SpentCall) -> None:
        self.paid.append(call)

    def usage(self, since: str, until: str) -> tuple[UsageLine, ...]:
        sums: dict[tuple[str, str, str, str], UsageLine] = {}
        for call in self.paid:
            day = day_of(call.paid_at)
            if not since <= day < until:
                continue
            key = (day, call.corpus, call.model, call.purpose)
            line = sums.get(key) or UsageLine(
                day=day, corpus=call.corpus, model=call.model, purpose=call.purpose
            )
            sums[key] = replace(
                line,
                calls=line.calls + 1,
                input_tokens=line.input_tokens + call.usage.input_tokens,
                output_tokens=line.output_tokens + call.usage.output_tokens,
                dollars=line.dollars + (call.dollars or 0.0),
                unpriced=line.unpriced + (call.dollars is None),
            )
        return tuple(sums[key] for key in sorted(sums))

    def spent(self, since: str) -> float:
        return sum(call.dollars or 0.0 for call in self.paid if day_of(call.paid_at) >= since)

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
