"""Says in one sentence what a step went by."""

from __future__ import annotations

from corpus2skill.adapters.offline.mapped_index import MappedIndex
from corpus2skill.adapters.offline.question import Question
from corpus2skill.adapters.offline.route import Step
from corpus2skill.adapters.offline.walk import Walk
from corpus2skill.domain.ids import SUMMARY_FILE
from corpus2skill.domain.language import Language
from corpus2skill.messages import message

_SHOWN_WORDS = 4


def reason_for_root(language: Language) -> str:
    return message(language, "offline.reason.root")


def reason_for_step(
    step: Step, walk: Walk, question: Question, index: MappedIndex, language: Language
) -> str:
    """Name the question's words that the best text on this way has, and the branch."""
    words = shared_words(step.goal.leaf, question, index)
    shown = message(language, "offline.word_separator").join(
        message(language, "offline.word", word=word) for word in words
    )
    kind = "branch" if step.path.endswith(SUMMARY_FILE) else "leaf"
    turn = "_back" if step.is_turning_back else ""
    bare = "" if words else "_bare"
    title = walk.titles.get(step.path, step.path)
    return message(language, f"offline.reason.{kind}{turn}{bare}", words=shown, title=title)


def shared_words(leaf: int, question: Question, index: MappedIndex) -> list[str]:
    """The question's terms that stand in `leaf`, the rarest few, in the order of the question."""
    found = [term for term, words in question.terms if words and index.has_all(leaf, words)]
    whole = [term for term in found if not any(term != other and term in other for other in found)]
    words_of = dict(question.terms)
    rarest = sorted(whole, key=lambda term: (-max(map(index.rarity, words_of[term])), term))[:_SHOWN_WORDS]
    return [term for term in whole if term in rarest]
