"""What the engine says when it has read enough: quotations with their sources, never words of its own."""

from __future__ import annotations

from collections.abc import Sequence

from corpus2skill.adapters.offline.passages import Passage
from corpus2skill.domain.language import Language
from corpus2skill.domain.message import Reply, Text
from corpus2skill.domain.session import Channel
from corpus2skill.messages import message

_WEAK_PASSAGES = 3
_SECOND_SHARE = 0.9
"""A second passage is quoted where it fits nearly as well as the first."""


def strong_answer(passages: Sequence[Passage], language: Language, channel: Channel) -> Reply:
    """Quote the passage that answers, and a second one that fits nearly as well."""
    near = [passage for passage in passages if passage.score >= passages[0].score * _SECOND_SHARE]
    kept = near[: 1 if channel == "voice" else 2]
    text = message(language, "offline.answer_strong", quotations=_quotations(kept, language))
    return Reply(parts=(Text(text),), stop="end", confidence="strong")


def weak_answer(passages: Sequence[Passage], language: Language, channel: Channel) -> Reply:
    """Say that it is a weak match and give up to three passages."""
    kept = passages[: 1 if channel == "voice" else _WEAK_PASSAGES]
    text = message(language, "offline.answer_weak", quotations=_quotations(kept, language))
    return Reply(parts=(Text(text),), stop="end", confidence="weak")


def not_found_answer(read_titles: Sequence[str], language: Language, channel: Channel) -> Reply:
    """Declare that nothing was found, and where was looked."""
    text = message(language, "not_found_phrase")
    if channel == "text" and read_titles:
        titles = [message(language, "offline.word", word=title) for title in read_titles]
        separator = message(language, "offline.word_separator")
        text += message(language, "offline.looked_at", titles=separator.join(titles))
    else:
        text += message(language, "offline.full_stop")
    return Reply(parts=(Text(text),), stop="end")


def small_talk_answer(kind: str, language: Language) -> Reply:
    text = message(language, f"offline.small_talk.{kind}")
    return Reply(parts=(Text(text),), stop="end", confidence="strong")


def _quotations(passages: Sequence[Passage], language: Language) -> str:
    quoted = [
        message(language, "offline.quotation", text=passage.text, doc_id=passage.doc_id)
        for passage in passages
    ]
    return "\n".join(quoted)
