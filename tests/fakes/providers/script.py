"""Which call gets which behaviour."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.fakes.providers.behaviour import AS_ALWAYS, Behaviour
from tests.fakes.providers.calls import Call
from tests.fakes.providers.prompt import Prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a rule looks at."""

    call: Call
    prompt: Prompt
    seconds: float
    """Since the server started or the script began, by the server's clock."""


Rule = Callable[[Asked], Behaviour | None]


class Script:
    """Rules in the order they were added: the first that has a behaviour for a call wins.

    Every method returns the script, so that a test reads as one sentence:
    `Script().on_call(3, cut_before()).for_calls(10, 19, rate_limited()).share(0.2, rubbish, seed=7)`.
    """

    def __init__(self) -> None:
        self._rules: list[Rule] = []
        self._used: dict[int, int] = {}

    def behaviour(self, asked: Asked) -> Behaviour:
        for rule in self._rules:
            if (found := rule(asked)) is not None:
                return found
        return AS_ALWAYS

    def add(self, rule: Rule) -> Script:
        self._rules.append(rule)
        return self

    def on_call(self, number: int, *behaviours: Behaviour) -> Script:
        """Model call `number` (from 1) and those after it get these, one each."""
        return self.add(lambda asked: _nth(behaviours, asked.call.number - number))

    def for_calls(self, first: int, last: int, behaviour: Behaviour) -> Script:
        """Model calls `first` to `last`, both counted: a storm of so many calls."""
        return self.add(lambda asked: behaviour if first <= asked.call.number <= last else None)

    def for_seconds(self, seconds: float, *behaviours: Behaviour, start: float = 0.0) -> Script:
        """A storm by the server's clock: the behaviours take turns by call number."""
        return self.add(
            lambda asked: (
                behaviours[asked.call.number % len(behaviours)]
                if start <= asked.seconds < start + seconds
                else None
            )
        )

    def on_tries(self, *behaviours: Behaviour) -> Script:
        """The first tries of every call get these, one each; later ones go on as always."""
        return self.add(lambda asked: _nth(behaviours, asked.call.tries_before))

    def when(
        self, holds: Callable[[Prompt], bool], behaviour: Behaviour, *, times: int | None = None
    ) -> Script:
        """Calls whose prompt has a property; at most `times` of them."""
        used = 0

        def rule(asked: Asked) -> Behaviour | None:
            nonlocal used
            if (times is not None and used >= times) or not holds(asked.prompt):
                return None
            used += 1
            return behaviour

        return self.add(rule)

    def share(self, part: float, *behaviours: Behaviour, seed: int, is_by_number: bool = False) -> Script:
        """A seeded share of the calls; the behaviours are drawn evenly.

        A call is drawn by its content, the same call and try always alike, whatever order the calls come in;
        `is_by_number` draws by call number instead.
        """

        def rule(asked: Asked) -> Behaviour | None:
            name = asked.call.number if is_by_number else f"{asked.call.digest}/{asked.call.tries_before}"
            chance = random.Random(f"{seed}/{name}")
            return chance.choice(behaviours) if chance.random() < part else None

        return self.add(rule)

    def limited(self, calls: int, seconds: float, behaviour: Behaviour) -> Script:
        """A rate limit by the server's clock: calls beyond so many in any `seconds` get the behaviour."""
        passed: deque[float] = deque()

        def rule(asked: Asked) -> Behaviour | None:
            while passed and passed[0] <= asked.seconds - seconds:
                passed.popleft()
            if len(passed) >= calls:
                return behaviour
            passed.append(asked.seconds)
            return None

        return self.add(rule)

    def crowded(self, most: int, behaviour: Behaviour) -> Script:
        """A limit on calls under way at once."""
        return self.add(lambda asked: behaviour if asked.call.in_flight > most else None)

    def always(self, behaviour: Behaviour) -> Script:
        return self.add(lambda _asked: behaviour)


def _nth(behaviours: Sequence[Behaviour], index: int) -> Behaviour | None:
    return behaviours[index] if 0 <= index < len(behaviours) else None
