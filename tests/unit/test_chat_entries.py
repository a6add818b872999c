"""What is typed into a chat, and how its lines are broken."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from corpus2skill.entrypoints.cli.chat_commands import (
    NAMES,
    Command,
    Question,
    Unknown,
    all_words,
    parse_entry,
)
from corpus2skill.entrypoints.cli.output import width_of
from corpus2skill.entrypoints.cli.wrapping import wrapped

JAPANESE = "年額プランの解約は、契約管理画面の「解約申請」から行うものとし、日割りによる返金は行わない。"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("年額プランは？", Question(text="年額プランは？")),
        ("  spaced  ", Question(text="spaced")),
        ("//etc/hosts?", Question(text="/etc/hosts?")),
        ("/trail", Command(name="trail", argument="")),
        ("/TRAIL", Command(name="trail", argument="")),
        ("／足跡", Command(name="trail", argument="")),
        ("/開く　３", Command(name="open", argument="3")),
        ("/o 2", Command(name="open", argument="2")),
        ("/s", Unknown(word="/s", candidates=("sources", "session"))),
        ("/etc/hosts", Unknown(word="/etc/hosts", candidates=())),
        ("/", Unknown(word="/", candidates=())),
    ],
)
@pytest.mark.requirement("N-61")
def test_an_entry_is_a_question_or_a_command(typed: str, meant: object) -> None:
    """N-61."""
    assert parse_entry(typed) == meant


@pytest.mark.requirement("N-61")
def test_every_word_that_is_offered_is_a_command_of_its_own() -> None:
    """N-61: no word of one language hides a command of the other."""
    meant = [parse_entry(word) for word in all_words()]
    assert {command.name for command in meant if isinstance(command, Command)} == set(NAMES)
    assert len(meant) == 2 * len(NAMES)


@given(text=st.text(max_size=200), width=st.integers(8, 100), hanging=st.integers(0, 5))
@example(text=JAPANESE, width=20, hanging=4)
@example(text="The annual membership may be cancelled at any time.", width=20, hanging=0)
@pytest.mark.requirement("N-60")
def test_a_wrapped_line_loses_nothing_but_spaces_and_fits(text: str, width: int, hanging: int) -> None:
    """N-60: narrow terminals, wide characters."""
    parts = [text[where] for where in wrapped(text, width, hanging)]
    assert "".join("".join(parts).split()) == "".join(text.split())
    fitting = [width_of(part.strip()) <= width for part in parts]
    assert all(fitting)


@pytest.mark.requirement("N-60")
def test_a_line_breaks_between_words_and_not_before_a_japanese_full_stop() -> None:
    """N-60: no line begins with 、 or 。, and none ends with 「."""
    parts = [JAPANESE[where] for where in wrapped(JAPANESE, 20)]
    assert not any(part.startswith(("、", "。", "」")) or part.endswith("「") for part in parts)
    english = "The annual membership may be cancelled"
    assert [english[where] for where in wrapped(english, 20)] == [
        "The annual",
        "membership may be",
        "cancelled",
    ]
