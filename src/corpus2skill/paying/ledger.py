"""What was called, reused, tried again and paid, by purpose and model."""

from __future__ import annotations

from dataclasses import replace

from corpus2skill.domain.message import Usage
from corpus2skill.domain.model_call import Purpose
from corpus2skill.domain.money import Spending, total


class Ledger:
    """Shared by all models of a compile."""

    def __init__(self) -> None:
        self._lines: dict[tuple[Purpose, str], Spending] = {}
        self._ahead: set[str] = set()

    @property
    def spending(self) -> tuple[Spending, ...]:
        """One line for each purpose and model, in the order of their first calls."""
        return tuple(self._lines.values())

    def add_paid(self, purpose: Purpose, model: str, usage: Usage, dollars: float | None) -> None:
        line = self._line(purpose, model)
        self._lines[purpose, model] = replace(
            line, calls=line.calls + 1, usage=line.usage + usage, dollars=total((line.dollars, dollars))
        )

    def expect(self, key: str) -> None:
        """Say that the result of `key` was paid for ahead of the call: finding it then is no reuse."""
        self._ahead.add(key)

    def add_reused(self, purpose: Purpose, model: str, key: str = "", dollars: float | None = 0.0) -> None:
        """`dollars`: what the call would have cost."""
        if key in self._ahead:
            self._ahead.remove(key)
            return
        line = self._line(purpose, model)
        self._lines[purpose, model] = replace(
            line, reused=line.reused + 1, saved=total((line.saved, dollars))
        )

    def add_retry(self, purpose: Purpose, model: str) -> None:
        line = self._line(purpose, model)
        self._lines[purpose, model] = replace(line, retries=line.retries + 1)

    def _line(self, purpose: Purpose, model: str) -> Spending:
        return self._lines.get((purpose, model)) or Spending(purpose=purpose, model=model)
