"""Settings: what is taken and what is refused before anything is begun with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus2skill.errors import UnusableSettings
from corpus2skill.settings import NAMES, load_settings, parse_value


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_file_bytes", "9" * 30),
        ("fetch_limit", "99999999999"),
        ("chunk_limit", 1.5),
        ("chunk_limit", float("inf")),
        ("max_pages", float("nan")),
        ("run_seconds", "inf"),
        ("run_seconds", "nan"),
        ("run_seconds", 10**400),
        ("max_leaves", "9" * 5000),
        ("max_leaves", True),
        ("max_leaves", 0),
        ("corpus", "\udcff"),
        ("corpus", ["a"]),
        ("model", ""),
    ],
)
def test_a_value_that_nothing_can_be_done_with_is_refused(name: str, value: object) -> None:
    """Issue, bad input: no such number reaches a file, a database or a power of itself."""
    with pytest.raises(UnusableSettings) as refused:
        parse_value(name, value)
    assert refused.value.values["name"] == name


@pytest.mark.parametrize(
    ("text", "value"), [("1200", 1200), ("１２００", 1200), (1200.0, 1200), (1200, 1200)]
)
def test_a_whole_number_is_taken_however_it_is_spelled(text: object, value: int) -> None:
    """Issue, config: from the file, the environment or the command line alike."""
    assert parse_value("chunk_limit", text) == value


@pytest.mark.parametrize("name", NAMES)
def test_the_environment_is_checked_like_the_file(name: str, tmp_path: Path) -> None:
    """Issue, config: each setting can be given as CORPUS2SKILL_<NAME>."""
    with pytest.raises(UnusableSettings):
        load_settings(tmp_path, {f"CORPUS2SKILL_{name.upper()}": ""})
