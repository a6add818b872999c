"""How a run ends: what the model declared, or the fixed sentence of what happened instead."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Literal, assert_never

from corpus2skill.domain.language import Language
from corpus2skill.domain.run import Outcome
from corpus2skill.domain.session import Channel
from corpus2skill.errors import ModelUnusable
from corpus2skill.messages import LANGUAGES, message
from corpus2skill.navigator.channel import places_named
from corpus2skill.navigator.citation import without_markers

CancelReason = Literal["barge_in", "stop", "shutdown"]
"""Why somebody ends a run: the asker speaks again, wants no more, or the process has to go."""


class RunEnded(Exception):
    """The run ends before the model has answered. The cause, where there is one, is what went wrong."""

    def __init__(self, outcome: Outcome) -> None:
        self.outcome: Outcome = outcome
        super().__init__(outcome)


def declares_not_found(answer: str) -> bool:
    """True where `answer` begins with the not-found phrase of either language.

    Quotes, spaces, punctuation, mark-up and character width are looked through; a phrase further on is the
    model quoting, and no declaration.
    """
    head = _letters(without_markers(answer))
    return any(head.startswith(_letters(message(language, "not_found_phrase"))) for language in LANGUAGES)


def outcome_of_cancel(reason: CancelReason) -> Outcome:
    match reason:
        case "barge_in":
            return "interrupted"
        case "stop":
            return "cancelled"
        case "shutdown":
            return "stopped"
        case _:
            assert_never(reason)


def fixed_sentence(
    outcome: Outcome,
    language: Language,
    channel: Channel,
    looked_at: Sequence[str] = (),
    error: BaseException | None = None,
) -> str:
    """Return what the asker reads where the model gave no answer. `looked_at` are titles of nodes read.

    Of an `error` no word is shown; it only decides whether asking again later is any use.
    """
    lasts = outcome == "model_failed" and isinstance(error, ModelUnusable)
    sentence = message(language, f"outcome.{outcome}{'.lasting' if lasts else ''}.{channel}")
    places = tuple(dict.fromkeys(looked_at))[: places_named(channel)]
    if outcome != "fetch_limit" or not places:
        return sentence
    listed = message(language, "outcome.place_separator").join(places)
    return sentence + message(language, f"outcome.looked_at.{channel}", places=listed)


def _letters(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in folded if char.isalnum())
