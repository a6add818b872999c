"""Cutting calls into batches: by number, by size, and by what the cap has room for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from corpus2skill.domain.model_call import TextCall
from corpus2skill.domain.money import Price
from corpus2skill.domain.tokens import FRAME_TOKENS, most_tokens
from corpus2skill.paying.budget import most_dollars
from corpus2skill.paying.call_key import prompt_texts
from corpus2skill.ports.batch_log import BatchedCall

LEAST_CALLS = 20
"""A cap cuts no batch smaller than this: each may take a day."""
_MOST_BYTES = 32 * 1024 * 1024
"""Of prompts in one batch. Providers take six times that and more; what is sent stands in memory."""
_CAUTION = 1 - 1e-9
"""Sums of many small amounts of money are not exact."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPart:
    """The calls of one batch, by their keys."""

    calls: dict[str, TextCall]
    noted: tuple[BatchedCall, ...]

    @property
    def most_dollars(self) -> float:
        return most_of(self.noted)


def next_part(
    calls: Iterable[tuple[str, TextCall]],
    *,
    price: Price,
    thinking_tokens: int,
    most_calls: int,
    room: float,
    most_bytes: int = _MOST_BYTES,
) -> BatchPart:
    """Return as many of the first `calls` as make one batch: at least one, and `LEAST_CALLS` whatever the room.

    Calls are drawn one by one, so that no more of them need be made than go into the batch, and one.
    """
    part: dict[str, TextCall] = {}
    noted: list[BatchedCall] = []
    size, dollars = 0, 0.0
    for key, call in calls:
        texts = prompt_texts(call)
        one = batched_call(key, call, price, thinking_tokens)
        size, dollars = size + sum(map(most_tokens, texts)), dollars + (one.most_dollars or 0.0)
        is_over_room = len(part) >= LEAST_CALLS and not fits(dollars, room)
        if len(part) >= most_calls or (part and size > most_bytes) or is_over_room:
            break
        part[key] = call
        noted.append(one)
    return BatchPart(calls=part, noted=tuple(noted))


def fits(dollars: float, room: float) -> bool:
    """True where the cap surely has room for so much."""
    return dollars <= room * _CAUTION


def batched_call(key: str, call: TextCall, price: Price, thinking_tokens: int) -> BatchedCall:
    """Return what is noted of a call."""
    texts = prompt_texts(call)
    input_tokens = FRAME_TOKENS + sum(map(most_tokens, texts))
    return BatchedCall(
        key=key,
        purpose=call.purpose,
        subject=call.subject,
        prompt_characters=sum(map(len, texts)),
        most_dollars=most_dollars(price, input_tokens, call.max_output_tokens + thinking_tokens),
    )


def most_of(calls: Iterable[BatchedCall]) -> float:
    """What `calls` may come to together; unknown prices count nothing, as no cap can be held with them."""
    return sum(call.most_dollars or 0.0 for call in calls)
