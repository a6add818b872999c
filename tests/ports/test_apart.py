"""`ports.apart.Apart`: in this process, and in child processes."""

from __future__ import annotations

import contextlib
import operator
import os
import signal
import threading
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from corpus2skill.adapters.apart.children import Children, Patience
from corpus2skill.adapters.apart.here import Here
from corpus2skill.errors import (
    BrokenOff,
    Corpus2SkillError,
    ModelUnavailable,
    NodeNotFound,
    SourceRefused,
    ThingNotFound,
    TooMany,
)
from corpus2skill.ports.apart import Apart

PATIENCE = 30.0


def failing(error: Exception) -> None:
    raise error


@pytest.fixture(params=["here", "children"])
def apart(request: pytest.FixtureRequest) -> Iterator[Apart]:
    found: Apart = Here() if request.param == "here" else Children()
    with contextlib.closing(found):
        yield found


@pytest.fixture
def children() -> Iterator[Children]:
    with contextlib.closing(Children()) as found:
        yield found


@pytest.mark.requirement("S-144")
def test_work_gives_back_what_it_gives(apart: Apart) -> None:
    assert apart.call("look", "local", operator.add, "解約は", "三十日前まで") == "解約は三十日前まで"
    assert apart.call("estimate", "local", sorted, [3, 1, 2], reverse=True) == [3, 2, 1]


@pytest.mark.requirement("S-144")
@pytest.mark.parametrize(
    "error",
    [
        ThingNotFound("version", "7"),
        NodeNotFound("a/b", at="SKILL.md", children=("解約", "料金")),
        SourceRefused("too_large", "bytes", limit=3),
        TooMany("rate_limit", retry_after=2.5),
        ModelUnavailable(retry_after=1.0, is_unreachable=True),
        BrokenOff(),
    ],
)
def test_errors_of_the_product_come_back_whole(apart: Apart, error: Corpus2SkillError) -> None:
    with pytest.raises(type(error)) as raised:
        apart.call("look", "local", failing, error)
    found = raised.value
    assert (found.code, found.values, str(found)) == (error.code, error.values, str(error))
    told = {name: value for name, value in vars(found).items() if not name.startswith("__")}
    assert told == {name: value for name, value in vars(error).items() if not name.startswith("__")}


@pytest.mark.requirement("S-144")
def test_other_faults_come_back_with_where_they_happened(children: Children) -> None:
    with pytest.raises(ValueError, match="invalid literal") as raised:
        children.call("look", "local", int, "第三条")
    assert "Traceback" in "".join(raised.value.__notes__)


@pytest.mark.requirement("S-144")
def test_a_child_is_another_process_that_stands_behind_the_door_and_is_used_again(children: Children) -> None:
    numbers = {children.call("look", "local", os.getpid) for _ in range(3)}
    assert len(numbers) == 1
    assert numbers != {os.getpid()}
    assert children.call("look", "local", os.nice, 0) > os.nice(0)
    assert children.call("estimate", "local", os.getpid) not in numbers, "a lane of its own"


@pytest.mark.requirement("S-145")
def test_a_child_that_is_killed_says_so_and_the_next_work_is_done(children: Children, tmp_path: Path) -> None:
    number = children.call("look", "local", os.getpid)
    with _waiting(children, "look", tmp_path / "held"):
        os.kill(number, signal.SIGKILL)
    assert children.call("look", "local", os.getpid) != number


@pytest.mark.requirement("S-145")
def test_what_never_ends_is_ended(tmp_path: Path) -> None:
    pipe = tmp_path / "held"
    os.mkfifo(pipe)
    with contextlib.closing(Children(Patience(working=0.2))) as children, pytest.raises(BrokenOff):
        children.call("look", "local", Path.read_bytes, pipe)


@pytest.mark.requirement("S-145")
def test_work_is_broken_off_when_the_server_ends(children: Children, tmp_path: Path) -> None:
    with _waiting(children, "estimate", tmp_path / "held"):
        children.close()
    with pytest.raises(BrokenOff):
        children.call("estimate", "local", os.getpid)


@pytest.mark.requirement("S-145")
def test_a_child_without_work_ends_and_the_next_begins() -> None:
    with contextlib.closing(Children(Patience(idle=0.01))) as children:
        first = children.call("look", "local", os.getpid)
        _until(lambda: not _is_alive(first))
        assert children.call("look", "local", os.getpid) != first


@pytest.mark.requirement("S-146")
def test_a_tenant_with_much_waiting_is_told_to_come_again_and_others_wait_their_turn(tmp_path: Path) -> None:
    with contextlib.closing(Children(Patience(each=1, all=2, waiting=0.05))) as children:
        number = children.call("estimate", "busy", os.getpid)
        with _waiting(children, "estimate", tmp_path / "held", whose="busy"):
            with pytest.raises(TooMany, match="too_much_at_once") as raised:
                children.call("estimate", "busy", os.getpid)
            assert raised.value.retry_after > 0
            with pytest.raises(TooMany):
                children.call("estimate", "other", os.getpid)
            assert children.call("look", "other", os.getpid) != number, "another lane"
            os.kill(number, signal.SIGKILL)
        assert children.call("estimate", "other", len, "次") == 1


@contextlib.contextmanager
def _waiting(children: Children, lane: str, pipe: Path, whose: str = "local") -> Generator[None]:
    """Work that waits in the child while the block lasts, and is broken off by it."""
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as threads:
        told = threads.submit(children.call, lane, whose, Path.read_bytes, pipe)  # type: ignore[arg-type]
        holding = os.open(pipe, os.O_WRONLY)  # returns when the child has opened it
        try:
            yield
            assert isinstance(told.exception(PATIENCE), BrokenOff)
        finally:
            os.close(holding)


def _is_alive(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    return True


def _until(is_so: Callable[[], bool]) -> None:
    for _ in range(3000):
        if is_so():
            return
        threading.Event().wait(0.01)
    raise AssertionError("it never came")
