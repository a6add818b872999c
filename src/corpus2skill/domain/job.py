"""The stages of a compile and what is said while they run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from corpus2skill.domain.chunk import Chunk
from corpus2skill.domain.corpus import SourceReport
from corpus2skill.domain.language import Language
from corpus2skill.domain.money import Spending
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


@dataclass(frozen=True, slots=True)
class SpendingKnown:
    """What the paid calls so far came to; told at the end, however the compile ends."""

    spending: tuple[Spending, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelWaiting:
    """A provider could not answer a call, which is tried again."""

    model: str
    seconds: float
    """Until the next try."""
    tries: int
    """That this call has had so far."""
    code: str
    """Of the error: its sentence says what was wrong."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchWaiting:
    """A batch is at the provider, or (`is_ended`) its results were kept. A broken-off compile leaves it there."""

    model: str
    batch_id: str
    calls: int
    done: int
    """Calls answered or failed so far. Some providers say so only at the end."""
    is_ended: bool = False


CompileEvent = StageProgress | SourceJudged | SpendingKnown | ModelWaiting | BatchWaiting


@dataclass(frozen=True, slots=True, kw_only=True)
class CompilePlan:
    """What a compile has to do once every source is read and cut, before anything is paid."""

    reports: tuple[SourceReport, ...]
    chunks: int
    to_summarize: tuple[Chunk, ...]
    """One chunk for each text that has no summary of the same engine yet."""
    to_group: int
    """Chunks that have no group yet: all of them in a first grouping."""
    is_first_grouping: bool
    leaf_groups: int
    """Groups with leaves of their own in the predecessor, and how many levels of groups it has."""
    depth: int
    language: Language


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
    spending: tuple[Spending, ...] = ()
