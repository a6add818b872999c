"""What the asker of a compile may say, and the models that follow from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from corpus2skill.application.model_wiring import CompileModels, model_for
from corpus2skill.application.wiring import OFFLINE
from corpus2skill.domain.language import Language
from corpus2skill.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class CompileOptions:
    """What the asker of a compile says; None leaves what the corpus remembers, or the settings."""

    corpus: str | None = None
    paths: Sequence[Path] = ()
    """Empty: those of the last compile."""
    title: str | None = None
    language: Language | None = None
    is_language_auto: bool = False
    """Forget a remembered language and find it from the texts."""
    model: str | None = None
    """`offline`, `provider` or `provider:name`; for both roles below."""
    summary_model: str | None = None
    grouping_model: str | None = None
    base_url: str | None = None
    context_window: int | None = None
    """Tokens."""
    max_cost: float | None = None
    """US dollars."""
    is_batch: bool = False
    """Summaries through the provider's batch interface."""
    chunk_limit: int | None = None
    chunk_minimum: int | None = None
    max_children: int | None = None
    max_leaves: int | None = None
    activate: bool = True
    is_held_back: bool = False
    """Made to be switched to, but by somebody else, later."""
    regroup: bool = False
    strict: bool = False
    is_confirmed: bool = False
    exclude: tuple[str, ...] = ()
    """Sources to take out of the corpus, now and from now on."""
    readmit: tuple[str, ...] = ()
    """Sources that were taken out and are let in again."""


def compile_models(settings: Settings, options: CompileOptions) -> CompileModels:
    """Options win over settings; `model` given as an option wins over a role's setting.

    Raises:
        UnusableSettings: a model that no adapter answers to.
    """
    for_summaries = options.summary_model or options.model or settings.summary_model or settings.model
    for_groups = options.grouping_model or options.model or settings.grouping_model or settings.model
    return CompileModels(
        summarize=None if for_summaries == OFFLINE else model_for(for_summaries, "summarize"),
        group=None if for_groups == OFFLINE else model_for(for_groups, "group"),
        base_url=options.base_url or settings.base_url,
        context_window=options.context_window or settings.context_window,
        max_cost=settings.max_cost if options.max_cost is None else options.max_cost,
        concurrency=settings.concurrency,
        is_batch=options.is_batch,
    )
