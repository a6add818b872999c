"""Who is told while it happens. A listener may fail or go away; the work does not notice."""

from __future__ import annotations

from typing import Protocol

from corpus2skill.domain.job import CompileEvent
from corpus2skill.domain.run import RunEvent


class CompileListener(Protocol):
    def __call__(self, event: CompileEvent, /) -> None: ...


class RunListener(Protocol):
    def __call__(self, event: RunEvent, /) -> None: ...
