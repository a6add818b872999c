"""What the command line's streams can spell, and how lines stand under each other."""

from __future__ import annotations

import io
import json
from collections.abc import Callable

from hypothesis import example, given
from hypothesis import strategies as st

from corpus2skill.domain.run import OUTCOMES
from corpus2skill.entrypoints.cli.exit_codes import of_outcome
from corpus2skill.entrypoints.cli.output import Output, columns, one_line

ENCODINGS = st.sampled_from(["utf-8", "cp932", "ascii", "euc_jp", "latin-1"])


@given(text=st.text(st.characters(codec=None)), encoding=ENCODINGS)
@example(text="髙橋 › 解約—返金 〜 ① 😀 \udc83", encoding="cp932")
@example(text="年額プラン", encoding="ascii")
def test_any_text_can_be_written_to_any_stream(text: str, encoding: str) -> None:
    """Issue: fit for `PYTHONIOENCODING=cp932`."""
    assert _written(encoding, lambda out: out.answer(text)).endswith(b"\n")


@given(value=st.recursive(st.text(st.characters(codec=None)) | st.integers(), st.lists), encoding=ENCODINGS)
@example(value=["😀", "解約", "\udc83"], encoding="cp932")
def test_a_document_is_the_same_on_every_stream(value: object, encoding: str) -> None:
    """JSON is for programs: nothing in it may be replaced."""
    written = _written(encoding, lambda out: out.document(value))
    assert json.loads(written.decode(encoding)) == value


def test_what_a_stream_can_spell_is_left_alone() -> None:
    """Japanese stays Japanese on a Japanese console."""
    written = _written("cp932", lambda out: out.document({"題名": "解約手続き"}))
    assert "解約手続き" in written.decode("cp932")


def test_columns_count_wide_characters_as_two() -> None:
    """A table with Japanese in it stays a table."""
    assert columns([("解約", "1"), ("ab", "22"), ("", "3")]) == ["解約  1", "ab    22", "      3"]
    assert columns([]) == []


@given(text=st.text(), limit=st.integers(1, 50))
def test_one_line_is_one_line_within_its_limit(text: str, limit: int) -> None:
    """A record's question may have any shape."""
    line = one_line(text, limit)
    assert len(line) <= limit
    assert len(line.splitlines()) <= 1


def test_only_an_answer_is_a_success() -> None:
    """Scripts branch on the exit code."""
    assert {outcome: of_outcome(outcome) for outcome in OUTCOMES if of_outcome(outcome) != 10} == {
        "answered": 0,
        "not_found": 9,
        "cancelled": 130,
    }


def _written(encoding: str, write: Callable[[Output], None]) -> bytes:
    """The bytes that `write` leaves on a standard output of `encoding`."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="\n")
    write(Output("ja", is_json=False, out=stream, err=io.StringIO()))
    stream.seek(0)
    return stream.buffer.read()
