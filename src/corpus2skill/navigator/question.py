"""What is asked, checked before anything is begun or paid."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass

from corpus2skill.domain.language import Language, detect_language
from corpus2skill.domain.run import Heard
from corpus2skill.domain.session import Channel, Door
from corpus2skill.errors import InvalidQuestion


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, who asks it, and how it came in."""

    text: str
    tenant: str
    session: str
    """Id of the conversation; what was said in it comes from our records, never from the asker."""
    corpus_language: Language
    channel: Channel = "text"
    door: Door = "cli"
    user: str | None = None
    """Who asks, where the door knows."""
    heard_before: Heard | None = None
    """How much of the answer before was heard, where this question breaks into it."""
    run: str | None = None
    """Id of the run, where the door has given it one already."""

    @property
    def language(self) -> Language:
        """Of the answer: the question's own where its script tells, else the corpus's."""
        return detect_language(self.text, self.corpus_language)


def check_question(text: str, limit: int) -> None:
    """Refuse what cannot be asked. No run begins and no record is written for it.

    Raises:
        InvalidQuestion: `empty_question`, `question_too_long` or `question_undecodable`.
    """
    if len(text) > limit:
        raise InvalidQuestion("question_too_long", length=len(text), limit=limit)
    categories = {unicodedata.category(char) for char in text}
    if "Cs" in categories:
        raise InvalidQuestion("question_undecodable")
    if all(category[0] in "ZC" for category in categories):
        raise InvalidQuestion("empty_question")
