"""Calls paid through a provider's batches ahead of the time when they are asked for: half the price, in a day."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from itertools import islice
from typing import TypeVar

from corpus2skill.domain.job import BatchWaiting, ModelWaiting
from corpus2skill.domain.model_call import Purpose, TextCall
from corpus2skill.domain.money import Price
from corpus2skill.errors import BadReply, ModelRefused, ModelUnavailable, ModelUnusable
from corpus2skill.paying.batch_part import BatchPart, fits, most_of, next_part
from corpus2skill.paying.batch_results import BatchReader, Reading
from corpus2skill.paying.budget import Reservation
from corpus2skill.paying.call_key import call_key
from corpus2skill.paying.paid_model import Account
from corpus2skill.paying.tries import Course
from corpus2skill.ports.batch_log import BatchLog, NotedBatch
from corpus2skill.ports.batch_model import BatchModel, BatchStatus
from corpus2skill.ports.language_model import LanguageModel

_log = logging.getLogger(__name__)

Item = TypeVar("Item")
Answer = TypeVar("Answer")

_ROUNDS = 2
"""Calls that were not done are handed in once more; after that they are asked singly."""
_LEAST_CALLS = 2
"""A batch may take a day: one call is not worth it."""
_LOOKED_UP_AT_ONCE = 1_000
_MOST_TRIES = 10_000
"""Of one request: time decides, not their number."""
_RESULTS_KEPT = timedelta(days=7)
"""At least so long do the providers keep what a batch answered."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Polling:
    """How often a batch is looked at. Seconds."""

    first: float = 5.0
    longest: float = 120.0
    growth: float = 1.5
    at_most: float = 25 * 3600.0
    """The providers end every batch within 24 hours."""
    patience: float = 3600.0
    """While the provider cannot be asked, once it could be: the batch goes on there meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _UnderWay:
    """A batch that was handed in."""

    noted: NotedBatch
    batch_id: str
    reservation: Reservation


class BatchedCalls:
    """Pays for calls through batches and keeps their replies where `PaidModel` finds them.

    A batch is noted before it is handed in and struck out when its results are kept: a process that is
    killed in between leaves a batch that the next one picks up.
    """

    def __init__(
        self,
        model: BatchModel,
        single: LanguageModel,
        bare: LanguageModel,
        log: BatchLog,
        account: Account,
        *,
        price: Price,
        polling: Polling = Polling(),
    ) -> None:
        """`single` pays for single calls of the same model, which is `bare`; `price` is that of a batch.

        Raises:
            UnusableSettings: there is a cap, and the price is unknown.
        """
        account.budget.require_price(model.name, price)
        self._model = model
        self._single = single
        self._bare = bare
        self._log = log
        self._account = account
        self._price = price
        self._polling = polling
        self._reader = BatchReader(model, account, price)
        self._successes = 0

    async def pay(self, items: Sequence[Item], call_of: Callable[[Item], TextCall]) -> None:
        """See that, as far as batches can, the calls of `items` are answered in the result store.

        What is not answered then was unusable, failed, or was not done twice: it is left to be asked singly.

        Raises:
            ModelUnavailable: the provider cannot be asked, or a batch takes too long; batches stay there.
            ModelUnusable: key, quota, model or endpoint are wrong, the endpoint has no batches, a batch was
                refused or failed as a whole, or one handed in earlier cannot be found.
            SpendingCapReached: the next batch could go over the cap; nothing of it was handed in.
            WorkspaceUnusable, Damaged, Busy: result store or log cannot be read or written.
        """
        wanted = await self._unanswered(items, call_of)
        under_way = await self._picked_up()
        known = {call.key for batch in under_way for call in batch.noted.calls}
        left = {key: item for key, item in wanted.items() if key not in known}
        if len(left) > _LEAST_CALLS:
            await self._try_out(left, call_of)
        else:
            left = {}
        for _ in range(_ROUNDS):
            missed = await self._handed_in_and_read(left, call_of, under_way)
            left = {key: wanted[key] for key in wanted if key in missed}
            under_way = []
            if len(left) < _LEAST_CALLS:
                break

    async def close(self) -> None:
        """Give back the connections."""
        await self._model.close()

    async def _unanswered(
        self, items: Sequence[Item], call_of: Callable[[Item], TextCall]
    ) -> dict[str, Item]:
        """The items whose calls have no result, by key. The calls are not held: they are as long as the texts."""
        keys: dict[str, Item] = {}
        for item in items:
            keys.setdefault(call_key(self._model.identity, call_of(item)), item)
        wanted: dict[str, Item] = {}
        pairs = iter(keys.items())
        while some := list(islice(pairs, _LOOKED_UP_AT_ONCE)):
            found = await asyncio.gather(*(self._account.store.find(key) for key, _ in some))
            wanted.update(pair for pair, reply in zip(some, found, strict=True) if reply is None)
        return wanted

    async def _picked_up(self) -> list[_UnderWay]:
        """The batches that an earlier process left. One that never was handed in is struck out."""
        picked: list[_UnderWay] = []
        for noted in await self._log.open(self._account.corpus, self._model.identity):
            batch_id = noted.batch_id or await self._found(noted, {batch.batch_id for batch in picked})
            if batch_id is None:
                await self._log.strike(noted.token)
                continue
            reservation = self._account.budget.commit(most_of(noted.calls))
            picked.append(_UnderWay(noted=noted, batch_id=batch_id, reservation=reservation))
        return picked

    async def _found(self, noted: NotedBatch, earlier: set[str]) -> str | None:
        """Look for a batch whose id was never noted; where there is one, note the id.

        Providers list the newest first, and one corpus hands in one batch after the other: where a batch
        that was handed in `earlier` is taken for this one, this one is not there.
        """
        calls = {call.key: _unknown_call(call.purpose) for call in noted.calls}
        batch_id = await self._asked(lambda: self._model.find(noted.token, calls))
        if batch_id is None or batch_id in earlier:
            return None
        await self._log.name(noted.token, batch_id)
        return batch_id

    async def _try_out(self, left: dict[str, Item], call_of: Callable[[Item], TextCall]) -> None:
        """See that there are batches, then ask for one item singly: what the endpoint refuses is learned from it.

        The item is taken out of `left`: its result is kept, or it will be asked for again.
        """
        key, item = next(iter(left.items()))
        call = call_of(item)
        try:
            await self._asked(lambda: self._model.find(_token(self._account.clock.now(), [key]), {key: call}))
        except ModelUnusable as error:
            if error.code == "endpoint_not_api":
                raise ModelUnusable("no_batches", model=self._model.name) from error
            raise
        with suppress(BadReply, ModelRefused):
            await self._single.complete(call)
            self._account.ledger.expect(key)
        del left[key]

    async def _handed_in_and_read(
        self, left: dict[str, Item], call_of: Callable[[Item], TextCall], under_way: list[_UnderWay]
    ) -> set[str]:
        """Hand in all of `left` and read it with what is `under_way`; return the calls that were not done."""
        missed: set[str] = set()
        waiting = dict(left)
        while waiting or under_way:
            while waiting:
                part = self._next_part(waiting, call_of)
                if under_way and not fits(part.most_dollars, self._account.budget.room):
                    break  # what is under way may turn out cheaper than what is set aside for it
                reservation = await self._account.budget.reserve(part.most_dollars)
                under_way.append(await self._hand_in(part, reservation))
                for key in part.calls:
                    del waiting[key]
            missed |= await self._read_all(under_way)
            under_way.clear()
        return missed

    def _next_part(self, waiting: dict[str, Item], call_of: Callable[[Item], TextCall]) -> BatchPart:
        def calls() -> Iterator[tuple[str, TextCall]]:
            return ((key, call_of(item)) for key, item in waiting.items())

        return next_part(
            calls(),
            price=self._price,
            thinking_tokens=self._bare.thinking_tokens,
            most_calls=self._model.most_calls,
            room=self._account.budget.room,
        )

    async def _hand_in(self, part: BatchPart, reservation: Reservation) -> _UnderWay:
        now = self._account.clock.now()
        noted = NotedBatch(
            token=_token(now, part.calls),
            corpus=self._account.corpus,
            model=self._model.name,
            identity=self._model.identity,
            calls=part.noted,
            noted_at=now,
        )
        await self._log.note(noted)
        try:
            batch_id = await self._submitted(noted.token, part)
        except ModelUnusable:  # the provider said no: nothing was begun
            await self._log.strike(noted.token)
            raise
        await self._log.name(noted.token, batch_id)
        return _UnderWay(noted=noted, batch_id=batch_id, reservation=reservation)

    async def _submitted(self, token: str, part: BatchPart) -> str:
        """Hand in once: where no answer came it is looked for before another try."""
        is_tried = False

        async def submit() -> str:
            nonlocal is_tried
            found = await self._model.find(token, part.calls) if is_tried else None
            is_tried = True
            return found or await self._model.submit(part.calls, token)

        return await self._asked(submit)

    async def _read_all(self, under_way: list[_UnderWay]) -> set[str]:
        """Wait until every batch has ended; return the calls that were not done."""
        missed: set[str] = set()
        working = list(under_way)
        waited, pause = 0.0, self._polling.first
        while True:
            still: list[_UnderWay] = []
            for batch in working:
                outcome = await self._looked_at(batch)
                if isinstance(outcome, _UnderWay):
                    still.append(outcome)
                else:
                    missed |= outcome
            working = still
            if not working:
                return missed
            if waited >= self._polling.at_most:
                hours = round(self._polling.at_most / 3600)
                raise ModelUnavailable(
                    "batch_overdue", batch=working[0].batch_id, model=self._model.name, hours=hours
                )
            await self._account.sleep(pause)
            waited += pause
            pause = min(self._polling.longest, pause * self._polling.growth)

    async def _looked_at(self, batch: _UnderWay) -> set[str] | _UnderWay:
        """Read a batch that has ended and return what was not done; otherwise return the batch to look at again."""
        reading = Reading(batch=batch.noted)
        try:
            status = await self._asked(lambda: self._model.status(batch.batch_id))
            self._tell_of(batch, status)
            if status.state == "working":
                return batch
            await self._asked(partial(self._reader.read, batch.batch_id, reading))
        except ModelUnusable as error:
            await self._give_up(batch, error)
        if reading.is_foreign and (found := await self._found(batch.noted, {batch.batch_id})) is not None:
            return replace(batch, batch_id=found)
        await self._conclude(batch, reading)
        return reading.missed

    async def _give_up(self, batch: _UnderWay, error: ModelUnusable) -> None:
        """Go on without a batch that the provider has deleted.

        Raises:
            ModelUnusable: it was refused as a whole, or nobody knows it though it is not old.
        """
        if error.code == "batch_refused":
            await self._strike(batch, 0.0)
            raise error
        if error.code != "endpoint_not_api":
            raise error
        if self._account.clock.now() - batch.noted.noted_at < _RESULTS_KEPT:
            raise ModelUnusable(
                "batch_not_found", batch=batch.batch_id, model=self._model.name, days=_RESULTS_KEPT.days
            ) from error
        _log.warning("batch %s is gone, its results with it", batch.batch_id)

    async def _conclude(self, batch: _UnderWay, reading: Reading) -> None:
        """
        Raises:
            ModelError: what every call of the batch failed with.
        """
        await self._strike(batch, reading.dollars)
        count = len(batch.noted.calls)
        self._tell(
            BatchWaiting(
                model=self._model.name, batch_id=batch.batch_id, calls=count, done=count, is_ended=True
            )
        )
        failure = reading.general_failure
        if failure is not None:
            raise failure

    async def _strike(self, batch: _UnderWay, dollars: float) -> None:
        self._account.budget.settle(batch.reservation, dollars)
        self._account.budget.release(batch.reservation)
        await self._log.strike(batch.noted.token)

    async def _asked(self, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """Ask the provider until it answers.

        Raises:
            ModelUnavailable: it did not, for longer than there is patience.
        """
        seconds = self._polling.patience if self._successes else self._account.patience.seconds
        patience = replace(self._account.patience, seconds=seconds, tries=_MOST_TRIES)
        course = Course(patience, self._account.chance)
        while True:
            begun = self._account.clock.monotonic()
            try:
                answer = await ask()
            except ModelUnavailable as error:
                took = max(0.0, self._account.clock.monotonic() - begun)
                seconds = course.wait_after(error, took, self._successes)
                self._tell(
                    ModelWaiting(
                        model=self._model.name, seconds=seconds, tries=course.failed, code=error.code
                    )
                )
                await self._account.sleep(seconds)
            else:
                self._successes += 1
                return answer

    def _tell_of(self, batch: _UnderWay, status: BatchStatus) -> None:
        done = status.answered + status.failed
        self._tell(
            BatchWaiting(
                model=self._model.name, batch_id=batch.batch_id, calls=len(batch.noted.calls), done=done
            )
        )

    def _tell(self, event: BatchWaiting | ModelWaiting) -> None:
        """Tell the listener; its failure is its own."""
        try:
            self._account.listener(event)
        except Exception:  # noqa: BLE001 - whatever a listener does, the batches go on
            _log.warning("a compile listener failed", exc_info=True)


def _token(now: datetime, keys: Iterable[str]) -> str:
    """A name that no other batch has: of 64 hexadecimal digits."""
    return hashlib.sha256("\n".join((now.isoformat(), *keys)).encode("ascii")).hexdigest()


def _unknown_call(purpose: Purpose) -> TextCall:
    """Stands for a call of which nothing but its id is known any more: batches are found by ids alone."""
    return TextCall(
        purpose=purpose, prompt_version="", system="", messages=(), schema="", max_output_tokens=1
    )
