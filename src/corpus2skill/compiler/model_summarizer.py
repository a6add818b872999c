"""Titles and summaries by a language model, each checked before it is believed."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from corpus2skill.compiler.in_order import CallGate, in_order
from corpus2skill.compiler.json_reply import Kind, first_object
from corpus2skill.compiler.summary_call import PROMPT_VERSION, asked_again, language_of, summary_call
from corpus2skill.compiler.summary_check import faults_of, finished
from corpus2skill.domain.chunk import Chunk, ChunkSummary
from corpus2skill.domain.model_call import TextCall, TextReply
from corpus2skill.errors import BadReply, ModelRefused
from corpus2skill.ports.language_model import LanguageModel
from corpus2skill.ports.summarizer import Summarizer

_log = logging.getLogger(__name__)

AT_ONCE = 16
"""Calls under way together where nothing else is said."""
_MOST_CALLS = 3
"""Of one chunk: the first and two that name the fault of the one before."""
_WANTED: dict[str, Kind] = {"title": "string", "summary": "string"}
_TOO_LONG, _OTHER_LANGUAGE = "summary_too_long", "summary_language"


class ModelSummarizer:
    """A `Summarizer` over a language model.

    A chunk for which no usable reply comes gets what `stand_in` says of it, marked as such. A failure of
    transport, key or budget goes up: nothing is made up for it.
    """

    def __init__(self, model: LanguageModel, stand_in: Summarizer, *, at_once: int = AT_ONCE) -> None:
        self._model, self._stand_in, self._at_once = model, stand_in, at_once

    @property
    def identity(self) -> str:
        return f"{self._model.name}/{PROMPT_VERSION}"

    async def summarize(self, chunks: Sequence[Chunk]) -> AsyncGenerator[ChunkSummary, None]:
        """Yield one summary for each chunk, in the order of `chunks`, as they are ready.

        Raises:
            ModelUnavailable, ModelUnusable, SpendingCapReached: no further call was begun, those under way
                were awaited.
        """
        async with aclosing(in_order(chunks, self._summary, self._at_once)) as summaries:
            async for summary in summaries:
                yield summary

    async def _summary(self, chunk: Chunk, gate: CallGate) -> ChunkSummary:
        """Ask until a reply is usable; what is only too long is asked about once and then cut."""
        first = call = summary_call(chunk)
        named: set[str] = set()
        for number in range(1, _MOST_CALLS + 1):
            said = await self._asked(call, chunk, gate)
            if said.is_usable or (said.is_too_long_only and (_TOO_LONG in named or number == _MOST_CALLS)):
                return finished(said.title, said.summary, chunk)
            if _OTHER_LANGUAGE in named & said.codes:
                break
            named |= said.codes
            call = asked_again(first, language_of(chunk), said.reply, said.faults, number + 1)
        _log.info(
            "stand-in for the summary of %s (%s)", chunk.chunk_id, ", ".join(sorted(named)) or "refused"
        )
        return await self._stand_in_for(chunk)

    async def _asked(self, call: TextCall, chunk: Chunk, gate: CallGate) -> _Said:
        """Make one call and read its reply; that the provider declined is a fault like any other."""
        try:
            async with gate:
                reply = await self._model.complete(call)
        except ModelRefused:
            return _Said(faults=(BadReply("summary_refused"),))
        except BadReply as fault:
            return _Said(faults=(fault,))
        return _read(reply, chunk)

    async def _stand_in_for(self, chunk: Chunk) -> ChunkSummary:
        async for summary in self._stand_in.summarize((chunk,)):
            return replace(summary, is_stand_in=True)
        raise BadReply("summaries_missing", wanted=1, came=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """A reply as far as it could be read."""

    reply: str = ""
    title: str = ""
    summary: str = ""
    faults: tuple[BadReply, ...] = ()

    @property
    def codes(self) -> frozenset[str]:
        return frozenset(fault.code for fault in self.faults)

    @property
    def is_usable(self) -> bool:
        return not self.faults

    @property
    def is_too_long_only(self) -> bool:
        return self.codes == frozenset({_TOO_LONG})


def _read(reply: TextReply, chunk: Chunk) -> _Said:
    if reply.stop == "refusal":
        return _Said(faults=(BadReply("summary_refused"),))
    if reply.stop == "max_tokens":
        return _Said(reply=reply.text, faults=(BadReply("reply_cut"),))
    try:
        said = first_object(reply.text, _WANTED)
    except BadReply as fault:
        return _Said(reply=reply.text, faults=(fault,))
    title, summary = str(said["title"]), str(said["summary"])
    faults = tuple(faults_of(title, summary, chunk))
    return _Said(reply=reply.text, title=title, summary=summary, faults=faults)
