"""A conversation is gone on with where it is there, and never begun anew in silence."""

from __future__ import annotations

import pytest

from corpus2skill.application.ask import known_session
from corpus2skill.errors import SessionNotFound
from tests.fakes.clock import FakeClock
from tests.fakes.record_store import FakeRecordStore
from tests.ports.runs import TENANT, record


@pytest.fixture
def records() -> FakeRecordStore:
    store = FakeRecordStore(FakeClock())
    for run, session in (("run_1", "session_ab"), ("run_2", "session_ac"), ("run_3", "session_ab")):
        store.close_run(record(run, session=session))
    store.close_run(record("run_4", session="session_x", tenant="other"))
    return store


@pytest.mark.parametrize(
    ("wanted", "found"),
    [("session_ab", "session_ab"), ("session_ac", "session_ac"), ("session_ac"[:10], "session_ac")],
)
def test_a_conversation_is_found_by_its_id(records: FakeRecordStore, wanted: str, found: str) -> None:
    """The article: earlier turns are kept on our side."""
    assert known_session(records, TENANT, wanted) == found


def test_a_unique_beginning_of_an_id_is_enough() -> None:
    """As it is for records."""
    store = FakeRecordStore(FakeClock())
    store.close_run(record("run_1", session="session_ab"))
    assert known_session(store, TENANT, "session_a") == "session_ab"


@pytest.mark.parametrize(
    ("wanted", "code"),
    [
        ("session_zz", "session_not_found"),
        ("", "session_not_found"),
        ("session_x", "session_not_found"),
        ("session_a", "session_ambiguous"),
    ],
)
def test_what_names_no_conversation_or_several_is_said(
    records: FakeRecordStore, wanted: str, code: str
) -> None:
    """A person who goes on would be answered as if nothing had been said before."""
    with pytest.raises(SessionNotFound) as error:
        known_session(records, TENANT, wanted)
    assert error.value.code == code
