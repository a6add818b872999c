"""Which language a text is in."""

from __future__ import annotations

import pytest

from corpus2skill.domain.language import Language, detect_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("年額プランの解約", "ja"),
        ("解約手続", "ja"),
        ("Docker の解約", "ja"),
        ("How do I cancel?", "en"),
        ("Refund?", "en"),
        ("the 契約 form, please, as soon as you can", "en"),
    ],
)
def test_the_script_tells_the_language(text: str, language: Language) -> None:
    """Design: answer language is the question's if ja or en."""
    other: Language = "en" if language == "ja" else "ja"
    assert detect_language(text, other) == language


@pytest.mark.parametrize("text", ["", "123", "NX-200", "PC", "？", "كيف"])
@pytest.mark.parametrize("default", ["ja", "en"])
def test_a_name_or_a_number_says_nothing_and_leaves_the_corpus_its_language(
    text: str, default: Language
) -> None:
    """Design: else the corpus's."""
    assert detect_language(text, default) == default
