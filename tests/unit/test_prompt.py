"""The navigator's instructions."""

from __future__ import annotations

import pytest

from corpus2skill.domain.language import Language
from corpus2skill.domain.session import Channel
from corpus2skill.messages import message
from corpus2skill.navigator.prompt import system_prompt

LANGUAGES: tuple[Language, ...] = ("ja", "en")
CHANNELS: tuple[Channel, ...] = ("text", "voice")


@pytest.mark.requirement("N-15", "N-42")
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("channel", CHANNELS)
def test_the_instructions_fix_the_phrase_the_limit_and_the_marker(
    language: Language, channel: Channel
) -> None:
    """The article: 「適合する情報が見つかりませんでした」と書く、と言い回しを固定."""
    prompt = system_prompt(language, channel, 8)
    assert message(language, "not_found_phrase") in prompt
    assert "8" in prompt
    assert "[doc_chunk_7]" in prompt
    assert ("データ" if language == "ja" else "is data") in prompt
    assert "{" not in prompt


@pytest.mark.requirement("N-31")
@pytest.mark.parametrize("language", LANGUAGES)
def test_reading_and_listening_get_different_instructions(language: Language) -> None:
    """The article, 音声とテキストでは適切な長さが違う."""
    assert system_prompt(language, "text", 8) != system_prompt(language, "voice", 8)
