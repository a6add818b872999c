"""The stages of a compile and what is said while they run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from corpus2skill.domain.corpus import SourceReport
from corpus2skill.domain.version import Difference, Manifest

Stage = Literal["extract", "chunk", "summarize", "cluster", "write", "publish"]
STAGES: tuple[Stage, ...] = ("extract", "chunk", "summarize", "cluster", "write", "publish")
"""The article's six, in its order."""


@dataclass(frozen=True, slots=True)
class StageProgress:
    """`done` of `total` units of a stage: sources, chunks, groups, files."""

    stage: Stage
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class SourceJudged:
    """A source's verdict is known."""

    report: SourceReport


CompileEvent = StageProgress | SourceJudged


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileReport:
    """What a compile did."""

    manifest: Manifest
    reports: tuple[SourceReport, ...]
    difference: Difference
    is_new: bool
    """False where nothing differs from the active version, which then stays the active one."""
    is_activated: bool
    reused_summaries: int
