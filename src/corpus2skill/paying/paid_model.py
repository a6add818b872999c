"""A language model whose every call goes through the result store, the cap, the rate and the tries."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

from corpus2skill.domain.job import ModelWaiting
from corpus2skill.domain.message import ModelEvent, Usage
from corpus2skill.domain.model_call import TextCall, TextReply
from corpus2skill.domain.money import Price
from corpus2skill.domain.tokens import FRAME_TOKENS, most_tokens, upper_prompt_tokens
from corpus2skill.domain.usage import SpentCall
from corpus2skill.errors import (
    BadReply,
    Corpus2SkillError,
    ModelRefused,
    ModelUnavailable,
    ModelUnusable,
    WorkspaceUnusable,
)
from corpus2skill.paying.budget import Budget, Reservation, most_dollars
from corpus2skill.paying.call_key import call_key, prompt_texts
from corpus2skill.paying.ledger import Ledger
from corpus2skill.paying.rate import KeyRate, Sleep
from corpus2skill.paying.rated_model import rated_reply
from corpus2skill.paying.tries import Chance, Course, Patience
from corpus2skill.ports.clock import Clock
from corpus2skill.ports.events import CompileListener
from corpus2skill.ports.language_model import LanguageModel
from corpus2skill.ports.navigator_model import NavigatorRequest
from corpus2skill.ports.result_store import PaidResult, ResultStore

_log = logging.getLogger(__name__)

_OF_ONE_CALL = frozenset({"window_too_small", "window_exceeded"})
"""What makes one call unusable and says nothing of the others."""
_GONE = "database_gone"
"""A store that cannot be reached now; any other fault of it stays."""
_STORE_PATIENCE = 120.0
_FIRST_STORE_PAUSE = 0.25
_LONGEST_STORE_PAUSE = 5.0
"""Seconds."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """What all paid calls of one compile share."""

    corpus: str
    store: ResultStore
    budget: Budget
    ledger: Ledger
    clock: Clock
    sleep: Sleep
    chance: Chance
    listener: CompileListener
    """Told of waits for a provider."""
    patience: Patience = Patience()


@dataclass(slots=True, kw_only=True, eq=False)
class _Flight:
    """A call that somebody waits for."""

    key: str
    waiting: int = 0
    is_sent: bool = False
    """It may have been paid for: it is not broken off any more."""
    sent_at: float = 0.0
    task: asyncio.Task[TextReply] | None = None


class PaidModel:
    """`ports.language_model.LanguageModel` over one that tries once: a call is paid for once and kept.

    A call that was sent is finished and its reply kept even if everybody who waited has been cancelled;
    `close` waits for such calls. Once the model has said that it cannot be used, or the store that it cannot
    keep, no further call is sent.
    """

    def __init__(
        self,
        model: LanguageModel,
        account: Account,
        *,
        rate: KeyRate,
        price: Price,
    ) -> None:
        """
        Raises:
            UnusableSettings: there is a cap, and the price is unknown.
        """
        account.budget.require_price(model.name, price)
        self._model = model
        self._account = account
        self._rate = rate
        self._price = price
        self._thought = model.thinking_tokens
        self._window = model.window - self._thought
        self._flights: dict[str, _Flight] = {}
        self._stopped_by: Corpus2SkillError | None = None

    @property
    def name(self) -> str:
        return self._model.name

    @property
    def identity(self) -> str:
        return self._model.identity

    @property
    def window(self) -> int:
        """What prompt and visible reply may have: the model's, without what it may think.

        It stays what it was at first, whatever is learned of the model: prompts are sized by it, and the same
        compile has to make the same calls again.
        """
        return self._window

    @property
    def whole_window(self) -> int:
        """The model's, with what it may think: the size that people know of and can set."""
        return self._window + self._thought

    @property
    def thinking_tokens(self) -> int:
        return 0

    async def complete(self, call: TextCall) -> TextReply:
        """Return the reply to a call, paid for now or earlier.

        Raises:
            as the port; and
            SpendingCapReached: the call could go over the cap; nothing was sent.
            WorkspaceUnusable, Damaged, Busy: the result store cannot be read or cannot keep the reply.
        """
        flight = self._board(call)
        assert flight.task is not None
        flight.waiting += 1
        try:
            return await asyncio.shield(flight.task)
        finally:
            flight.waiting -= 1
            if not flight.waiting and not flight.is_sent:
                self._break_off(flight)

    async def reply(self, request: NavigatorRequest) -> AsyncIterator[ModelEvent]:
        """Pass a round through when the key's rate lets it: trying again is decided by the loop."""
        async with aclosing(rated_reply(self._model, request, self._rate)) as events:
            async for event in events:
                yield event

    async def close(self) -> None:
        """Wait for the calls that were sent, so that what they cost is not lost; give back the connections."""
        tasks = [flight.task for flight in self._flights.values() if flight.task is not None]
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._model.close()

    def _board(self, call: TextCall) -> _Flight:
        """Return the flight of this call: the one under way, or a new one."""
        key = call_key(self._model.identity, call)
        flight = self._flights.get(key)
        if flight is None:
            flight = self._flights[key] = _Flight(key=key)
            flight.task = asyncio.create_task(self._fly(flight, call))
            flight.task.add_done_callback(partial(self._land, flight))
        return flight

    def _land(self, flight: _Flight, task: asyncio.Task[TextReply]) -> None:
        self._forget(flight)
        if not task.cancelled():
            task.exception()  # seen: who waited has it, and where nobody waits it is nobody's

    def _break_off(self, flight: _Flight) -> None:
        """End a call that was not sent. Who wants the same from now on begins anew."""
        self._forget(flight)
        if flight.task is not None and flight.task is not asyncio.current_task():
            flight.task.cancel()

    def _forget(self, flight: _Flight) -> None:
        if self._flights.get(flight.key) is flight:
            del self._flights[flight.key]

    async def _fly(self, flight: _Flight, call: TextCall) -> TextReply:
        try:
            found = await self._patiently(lambda: self._account.store.find(flight.key))
            if found is None:
                return await self._pay(flight, call)
        except asyncio.CancelledError:
            self._raise_if_stopped()
            raise
        self._account.ledger.add_reused(call.purpose, self.name, flight.key, self._price(found.usage))
        return found

    async def _pay(self, flight: _Flight, call: TextCall) -> TextReply:
        self._raise_if_stopped()
        texts = prompt_texts(call)
        tokens = self._fitting_tokens(call, texts)
        most = self._most_dollars(call, texts)
        reservation = await self._account.budget.reserve(most or 0.0)
        try:
            return await self._answer(flight, call, tokens, reservation)
        except (BadReply, ModelRefused):
            # Nobody said what it used: it may have cost as much as was set aside for it.
            self._settle(call, reservation, Usage(), most)
            await self._note_lost(call, most)
            raise
        finally:
            self._account.budget.release(reservation)

    async def _note_lost(self, call: TextCall, most: float | None) -> None:
        """Have a call counted whose reply is lost; where that is not possible, its own failure matters more."""
        lost = SpentCall(
            corpus=self._account.corpus,
            model=self.name,
            purpose=call.purpose,
            usage=Usage(),
            dollars=most,
            paid_at=self._account.clock.now(),
        )
        with suppress(Corpus2SkillError):
            await self._account.store.note(lost)

    def _fitting_tokens(self, call: TextCall, texts: tuple[str, ...]) -> int:
        """Return what prompt and reply stay below.

        Raises:
            ModelUnusable: the model's window is smaller.
        """
        tokens = upper_prompt_tokens(*texts) + call.max_output_tokens + self._model.thinking_tokens
        if tokens > self._model.window:
            raise ModelUnusable("window_too_small", model=self.name, window=self._model.window, wanted=tokens)
        return tokens

    def _most_dollars(self, call: TextCall, texts: tuple[str, ...]) -> float | None:
        input_tokens = FRAME_TOKENS + sum(map(most_tokens, texts))
        return most_dollars(self._price, input_tokens, call.max_output_tokens + self._model.thinking_tokens)

    def _settle(self, call: TextCall, reservation: Reservation, usage: Usage, dollars: float | None) -> None:
        self._account.budget.settle(reservation, dollars)
        self._account.ledger.add_paid(call.purpose, self.name, usage, dollars)

    async def _answer(
        self, flight: _Flight, call: TextCall, tokens: int, reservation: Reservation
    ) -> TextReply:
        """Return the first answer, kept."""
        course = Course(self._account.patience, self._account.chance)
        while True:
            try:
                return await self._try_once(flight, call, tokens, reservation)
            except ModelUnavailable as error:
                await self._wait(flight, call, course, error)
            except ModelUnusable as error:
                if error.code not in _OF_ONE_CALL:
                    self._stop(error)
                raise

    async def _try_once(
        self, flight: _Flight, call: TextCall, tokens: int, reservation: Reservation
    ) -> TextReply:
        """Make the call and keep its reply.

        The turn ends when the reply is on the disk: so no more can ever be lost than the calls that the key
        may have at a time.
        """
        async with self._rate.turn(tokens) as turn:
            flight.is_sent, flight.sent_at = True, self._account.clock.monotonic()
            try:
                reply = await self._model.complete(call)
            except BaseException:
                flight.is_sent = False
                raise
            turn.used(_all_tokens(reply.usage))
            self._settle(call, reservation, reply.usage, self._price(reply.usage))
            await self._keep(flight, call, reply)
        return reply

    async def _wait(self, flight: _Flight, call: TextCall, course: Course, error: ModelUnavailable) -> None:
        """
        Raises:
            ModelUnavailable: it is not worth another try, or nobody waits for it any more.
        """
        if not flight.waiting:
            raise error
        took = max(0.0, self._account.clock.monotonic() - flight.sent_at)
        seconds = course.wait_after(error, took, self._rate.successes)
        self._account.ledger.add_retry(call.purpose, self.name)
        self._tell(ModelWaiting(model=self.name, seconds=seconds, tries=course.failed, code=error.code))
        await self._account.sleep(seconds)

    async def _keep(self, flight: _Flight, call: TextCall, reply: TextReply) -> None:
        result = PaidResult(
            key=flight.key,
            corpus=self._account.corpus,
            model=self.name,
            purpose=call.purpose,
            subject=call.subject,
            prompt_characters=sum(map(len, prompt_texts(call))),
            reply=reply,
            dollars=self._price(reply.usage),
            paid_at=self._account.clock.now(),
        )
        try:
            await self._patiently(lambda: self._account.store.keep(result))
        except Corpus2SkillError as error:
            self._stop(error)  # what would be paid from here on could not be kept either
            raise

    async def _patiently(self, work: Callable[[], Awaitable[Result]]) -> Result:
        """What the store does, once its database is back that was gone: a reply that was paid for is not let go."""
        pause, left = _FIRST_STORE_PAUSE, _STORE_PATIENCE
        while True:
            try:
                return await work()
            except WorkspaceUnusable as error:
                if error.code != _GONE or left <= 0:
                    raise
            await self._account.sleep(pause)
            left -= pause
            pause = min(2 * pause, _LONGEST_STORE_PAUSE)

    def _stop(self, error: Corpus2SkillError) -> None:
        """Send nothing any more, and tell everybody who waits why."""
        self._stopped_by = self._stopped_by or error
        for flight in list(self._flights.values()):
            if not flight.is_sent:
                self._break_off(flight)

    def _raise_if_stopped(self) -> None:
        error = self._stopped_by
        if error is not None:
            raise type(error)(error.code, **error.values) from error

    def _tell(self, event: ModelWaiting) -> None:
        """Tell the listener; its failure is its own."""
        try:
            self._account.listener(event)
        except Exception:  # noqa: BLE001 - whatever a listener does, the calls go on
            _log.warning("a compile listener failed", exc_info=True)


def _all_tokens(usage: Usage) -> int:
    return usage.input_tokens + usage.output_tokens
