"""The model that walks: it goes by the index of words and answers with quotations."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from functools import lru_cache

from corpus2skill.adapters.offline.answering import (
    not_found_answer,
    small_talk_answer,
    strong_answer,
    weak_answer,
)
from corpus2skill.adapters.offline.mapped_index import MappedIndex, Ranking
from corpus2skill.adapters.offline.passages import best_passages
from corpus2skill.adapters.offline.question import Question, understand
from corpus2skill.adapters.offline.reasons import reason_for_root, reason_for_step
from corpus2skill.adapters.offline.route import next_step
from corpus2skill.adapters.offline.small_talk import small_talk
from corpus2skill.adapters.offline.walk import OWN_CALL, TOOL, Walk, read_walk, root_is_read
from corpus2skill.domain.ids import ROOT_PATH
from corpus2skill.domain.message import ModelEvent, Reply, Text, TextDelta, ToolCall
from corpus2skill.ports.navigator_model import NavigatorRequest

NOT_FOUND_BELOW = 0.57
"""A match under this counts as none; found by cross-validation over questions of several corpora."""
WEAK_BELOW = 0.66
"""A match under this is said to be a weak one."""
_ENDLESS = 10**12
"""Tokens: this engine has no window."""
_RANKINGS_KEPT = 64
"""Questions whose ranking is remembered from round to round."""
_RANKED = 200
"""Leaves looked at for the next step."""


class OfflineNavigator:
    """A `NavigatorModel` without a language model. It keeps nothing of a run between its rounds."""

    def __init__(self, index: MappedIndex, *, fetch_limit: int = 8) -> None:
        self._index = index
        self._fetch_limit = fetch_limit
        self._ranked = lru_cache(maxsize=_RANKINGS_KEPT)(self._rank)

    @property
    def name(self) -> str:
        return "offline:offline-1"

    @property
    def window(self) -> int:
        return _ENDLESS

    @property
    def thinking_tokens(self) -> int:
        return 0

    async def close(self) -> None:
        """Nothing to give back."""

    async def reply(self, request: NavigatorRequest) -> AsyncIterator[ModelEvent]:
        """Stream the words of the next reply, then the reply."""
        reply = self._reply(request)
        if reply.text:
            yield TextDelta(reply.text)
        yield reply

    def _reply(self, request: NavigatorRequest) -> Reply:
        walk = read_walk(request.messages)
        kind = small_talk(walk.question)
        if kind is not None:
            return small_talk_answer(kind, request.language)
        question = understand(walk.question, walk.earlier_question)
        ranking = self._ranked(question)
        return self._fetch(walk, question, ranking, request) or self._answer(walk, question, ranking, request)

    def _rank(self, question: Question) -> Ranking:
        return self._index.rank(question, _RANKED)

    def _fetch(
        self, walk: Walk, question: Question, ranking: Ranking, request: NavigatorRequest
    ) -> Reply | None:
        """The next fetch with its reason, or None when it is time to answer."""
        fetches_left = self._fetch_limit - walk.fetches
        if not request.offers_tools or fetches_left <= 0:
            return None
        if not root_is_read(walk):
            return _call(walk, ROOT_PATH, reason_for_root(request.language))
        step = next_step(walk, ranking, fetches_left=fetches_left)
        if step is None:
            return None
        return _call(walk, step.path, reason_for_step(step, walk, question, self._index, request.language))

    def _answer(self, walk: Walk, question: Question, ranking: Ranking, request: NavigatorRequest) -> Reply:
        titles = [leaf.title for leaf in walk.leaves]
        if ranking.match < NOT_FOUND_BELOW:
            return not_found_answer(titles, request.language, request.channel)
        most = 2 if request.channel == "voice" else 3
        passages = best_passages(
            question, walk.leaves, ranking.fit(), self._index.rarity, most_sentences=most
        )
        if not passages:
            return not_found_answer(titles, request.language, request.channel)
        answer = weak_answer if ranking.match < WEAK_BELOW else strong_answer
        return answer(passages, request.language, request.channel)


def _call(walk: Walk, path: str, reason: str) -> Reply:
    call = ToolCall(
        call_id=f"{OWN_CALL}{walk.fetches + 1}",
        name=TOOL,
        arguments=json.dumps({"path": path}, ensure_ascii=False),
    )
    return Reply(parts=(Text(reason), call), stop="tool_use")
