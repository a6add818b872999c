"""What stands between a compile and its first paid call: the estimate, the checks and the yes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from corpus2skill.application.compile_engine import CompileEngine
from corpus2skill.compiler.pipeline import CompileRequest
from corpus2skill.domain.job import CompilePlan
from corpus2skill.domain.money import EstimatedSpending, total
from corpus2skill.domain.tree import TreeLimits
from corpus2skill.errors import ConfirmationNeeded, Phrase

Confirm = Callable[[Sequence[EstimatedSpending]], bool]
"""Shows an estimate to whoever pays; True for a yes."""


def nobody(_estimate: Sequence[EstimatedSpending]) -> bool:
    """The answer where nobody can be asked."""
    return False


class PaidApproval:
    """The `Approval` of a compile: checks what can be checked, then asks where it costs more than before."""

    def __init__(
        self, engine: CompileEngine, request: CompileRequest, confirm: Confirm, *, is_confirmed: bool
    ) -> None:
        self._engine = engine
        self._request = request
        self._confirm = confirm
        self._is_confirmed = is_confirmed or engine.max_cost is not None
        self.agreed_calls = 0
        """Calls that were agreed to, now or earlier."""

    async def __call__(self, plan: CompilePlan, /) -> None:
        if not self._engine.is_paid:
            return
        self._engine.check(plan)
        if open_batches := await self._engine.open_batches(self._request.corpus):
            self._require_confirmed_twice(open_batches, plan)
        config = self._request.config
        agreed = 0 if config is None else config.approved_calls
        calls = self._engine.most_calls(plan, self._request.limits)
        if calls > agreed and not self._is_confirmed:
            calls = await self._confirmed(plan, agreed)
        self.agreed_calls = max(calls, agreed)

    async def _confirmed(self, plan: CompilePlan, agreed: int) -> int:
        """Return the calls that are left to pay, once somebody has said yes to them."""
        estimate = await estimated(self._engine, plan, self._request.limits)
        calls = round(sum(part.calls.high for part in estimate))
        if calls > agreed and not self._confirm(estimate):
            raise ConfirmationNeeded("payment_not_confirmed", calls=calls, dollars=_dollars(estimate))
        return calls

    def _require_confirmed_twice(self, batches: int, plan: CompilePlan) -> None:
        """Calls that wait in a batch would be paid for once more."""
        if plan.to_summarize and not self._request.is_confirmed:
            raise ConfirmationNeeded("batch_open", batches=batches)


async def estimated(
    engine: CompileEngine, plan: CompilePlan, limits: TreeLimits
) -> tuple[EstimatedSpending, ...]:
    """What the plan's calls will probably come to; empty where nothing is paid for."""
    return await engine.estimate(plan, limits) if engine.is_paid else ()


def _dollars(estimate: Sequence[EstimatedSpending]) -> str:
    high = total(None if part.dollars is None else part.dollars.high for part in estimate)
    return Phrase("phrase.price_unknown") if high is None else f"<= ${high:.2f}"
