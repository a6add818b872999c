"""What a provider says it used, and what of it can be believed."""

from __future__ import annotations

import json

import pytest

from corpus2skill.adapters.llm.anthropic_wire import decoded_message
from corpus2skill.adapters.llm.anthropic_wire import usage_of as anthropic_usage
from corpus2skill.adapters.llm.openai_wire import decoded_completion
from corpus2skill.adapters.llm.openai_wire import usage_of as openai_usage
from corpus2skill.adapters.llm.token_count import token_count
from corpus2skill.domain.message import Usage

FAR_TOO_MANY = 99_999_999_999_999_999_999
"""Beyond what a database's integer holds."""


@pytest.mark.parametrize(
    ("said", "counted"),
    [
        (12, 12),
        (None, 0),
        (-5, 0),
        ("12", 0),
        (True, 0),
        (FAR_TOO_MANY, 1_000_000_000),
    ],
)
def test_only_a_count_that_a_call_can_have_is_believed(said: object, counted: int) -> None:
    """Issue 4, money: real usage and money per stage."""
    assert token_count(said) == counted


def test_nonsense_in_anthropic_s_usage_neither_ends_the_program_nor_gives_money_back() -> None:
    """Issue 4, bad input: each a clear error; `--max-cost` holds."""
    body: dict[str, object] = {"content": [], "usage": {"input_tokens": -5, "output_tokens": FAR_TOO_MANY}}
    usage = anthropic_usage(decoded_message(json.dumps(body).encode()).usage)
    assert usage == Usage(input_tokens=0, output_tokens=1_000_000_000)


def test_nonsense_in_openai_s_usage_neither_ends_the_program_nor_gives_money_back() -> None:
    """Issue 4, bad input: each a clear error; `--max-cost` holds."""
    body: dict[str, object] = {
        "choices": [],
        "usage": {"prompt_tokens": -5, "completion_tokens": FAR_TOO_MANY},
    }
    usage = openai_usage(decoded_completion(json.dumps(body).encode()).usage)
    assert usage == Usage(input_tokens=0, output_tokens=1_000_000_000)
