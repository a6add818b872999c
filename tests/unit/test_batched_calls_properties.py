"""Any interleaving of kills, edits and failures: what a batch was paid for is never paid for again."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from corpus2skill.errors import ModelUnavailable
from corpus2skill.ports.batch_log import NotedBatch
from corpus2skill.ports.result_store import PaidResult
from tests.fakes.batch_log import FakeBatchLog
from tests.fakes.batch_model import FakeBatchModel, Outcome, answered
from tests.fakes.result_store import FakeResultStore
from tests.unit.batch_desk import BatchDesk, subjects

COUNT = 9


class Killed(BaseException):
    """The process is gone, in the middle of whatever it did."""


class Doors:
    """Counts everything that a process does to what outlives it, and ends the process at one of them."""

    def __init__(self) -> None:
        self.left: int | None = None

    def __call__(self, _step: str = "") -> None:
        if self.left is not None:
            if self.left == 0:
                self.left = None
                raise Killed
            self.left -= 1


class MortalLog(FakeBatchLog):
    """May be cut off before and after each write."""

    def __init__(self, doors: Doors) -> None:
        super().__init__()
        self._doors = doors

    async def note(self, batch: NotedBatch) -> None:
        self._doors()
        await super().note(batch)
        self._doors()

    async def name(self, token: str, batch_id: str | None) -> None:
        self._doors()
        await super().name(token, batch_id)
        self._doors()

    async def strike(self, token: str) -> None:
        self._doors()
        await super().strike(token)
        self._doors()


class MortalStore(FakeResultStore):
    """May be cut off around keeping the result of a batch.

    A single call that is cut off is under way, and may be paid for again: it is one step here.
    """

    def __init__(self, doors: Doors, log: FakeBatchLog) -> None:
        super().__init__()
        self._doors = doors
        self._log = log

    async def keep(self, result: PaidResult) -> None:
        is_of_batch = any(
            call.key == result.key for batch in self._log.noted.values() for call in batch.calls
        )
        if is_of_batch:
            self._doors()
        await super().keep(result)
        if is_of_batch:
            self._doors()


def outcome_of(kind: str, key: str) -> Outcome:
    match kind:
        case "expired":
            return None
        case "failed":
            return ModelUnavailable("model_overloaded", model="m", endpoint="-", reason="-")
        case _:
            return answered(key)


@settings(max_examples=150, deadline=None)
@given(
    kills=st.lists(st.integers(0, 60), max_size=8),
    wanted=st.lists(st.integers(1, COUNT), min_size=9, max_size=9),
    kinds=st.lists(st.sampled_from(["done", "done", "done", "expired", "failed"]), min_size=3, max_size=12),
    most_calls=st.integers(2, COUNT),
    looks=st.integers(0, 3),
    keeps_tokens=st.booleans(),
)
def test_no_interleaving_of_kills_pays_a_call_of_a_batch_twice(
    kills: list[int],
    wanted: list[int],
    kinds: list[str],
    most_calls: int,
    looks: int,
    keeps_tokens: bool,
) -> None:
    """Issue 4, batch mode: killed at any moment the batch is picked up again, and nothing is paid twice."""
    doors = Doors()
    batches = FakeBatchModel(step=doors, most_calls=most_calls, looks=looks, keeps_tokens=keeps_tokens)
    asked = iter(range(10_000))
    batches.outcome = lambda key: outcome_of(kinds[next(asked) % len(kinds)], key)
    log = MortalLog(doors)
    desk = BatchDesk(batches=batches, log=log, store=MortalStore(doors, log))

    for kill, count in zip(kills, wanted, strict=False):
        doors.left = kill
        try:
            desk.run(subjects(count))
        except (Killed, ModelUnavailable):
            continue
        finally:
            doors.left = None
    batches.outcome = answered
    assert desk.run(subjects(COUNT)) == ["要約"] * COUNT

    batches.finish()
    assert set(batches.paid.values()) <= {1}
    single = [desk.key(call.subject) for call in desk.single.calls]
    assert len(single) == len(set(single))
    assert not set(single) & set(batches.paid)
    assert desk.log.noted == {}
