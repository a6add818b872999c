"""How many tokens a text may be."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus2skill.domain.tokens import (
    FRAME_TOKENS,
    likely_tokens,
    most_tokens,
    upper_prompt_tokens,
    upper_tokens,
)

JAPANESE = "年額プランの解約は、契約管理画面の「解約申請」から行うものとし、日割り返金は行わない。"
ENGLISH = "Cancellation of the annual plan is made from the contract page; no refund is given."


@given(st.text(st.characters(exclude_categories=[])), st.text())
@example(JAPANESE, ENGLISH)
@example("\ud83d", "")
def test_longer_texts_are_no_fewer_tokens_and_low_is_not_above_high(text: str, more: str) -> None:
    """Sums over the parts of a prompt hold for the whole of it."""
    likely = likely_tokens(text)
    assert 0 <= likely.low <= likely.high <= upper_tokens(text)
    assert upper_tokens(text) <= upper_tokens(text + more)
    assert most_tokens(text + more) == most_tokens(text) + most_tokens(more)
    together = likely_tokens(text + more).high
    assert together == pytest.approx(likely.high + likely_tokens(more).high)


@pytest.mark.parametrize(
    ("text", "counted"),
    [
        (JAPANESE, {"o200k": 38, "cl100k": 50, "older of Anthropic": 46, "DeepSeek": 33}),
        (ENGLISH, {"o200k": 17, "cl100k": 17, "older of Anthropic": 19, "DeepSeek": 18}),
    ],
)
def test_texts_lie_within_what_public_tokenizers_count(text: str, counted: dict[str, int]) -> None:
    """Field report 18: a prompt is to fit. The figures were counted once with the tokenizers themselves."""
    for tokens in counted.values():
        assert tokens <= upper_tokens(text) <= most_tokens(text)
        assert likely_tokens(text).low * 0.8 <= tokens <= likely_tokens(text).high * 1.2


def test_a_chunk_with_its_prompt_fits_into_a_small_window() -> None:
    """design.md: 8,192 tokens for unknown models; a bound that refused a plain chunk would be useless."""
    chunk, instructions = (JAPANESE * 40)[:1_500], (JAPANESE * 40)[:1_000]
    assert upper_prompt_tokens(instructions, chunk) + 400 < 8_192
    assert upper_prompt_tokens() == FRAME_TOKENS
