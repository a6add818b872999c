"""What a job would do and cost, before it is started."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
from dataclasses import replace
from pathlib import Path

from corpus2skill.application.compile_documents import estimate_compile
from corpus2skill.application.compile_engine import silent
from corpus2skill.application.compile_host import CompileHost
from corpus2skill.application.compile_options import CompileOptions, compile_models
from corpus2skill.application.json_form import to_json
from corpus2skill.application.server.corpora import options_of_corpus, require_corpus
from corpus2skill.application.server_wiring import Server, cached_extractor, uploaded_sources
from corpus2skill.domain.moments import moment_of
from corpus2skill.domain.money import EstimatedSpending, Span
from corpus2skill.domain.people import Principal
from corpus2skill.domain.server_job import (
    Estimate,
    EstimateLine,
    JobOptions,
    failed_item,
    probable_minutes,
)
from corpus2skill.errors import Damaged, Outrun
from corpus2skill.settings import Settings


def estimate_job(server: Server, by: Principal, corpus: str, options: JobOptions) -> Estimate:
    """Read and cut the documents and say what a compile of them would come to. Nothing is called.

    Raises:
        CorpusNotFound: there is no such corpus.
        InvalidInput: options that cannot be used, or nothing to compile.
        TooMany, BrokenOff: as whatever is done apart.
    """
    require_corpus(server, by.tenant, corpus)
    estimate = server.apart.call("estimate", by.tenant, _estimated, server, by.tenant, corpus, options)
    server.jobs.add_estimate(estimate)
    return estimate


def require_current(server: Server, estimate: Estimate, corpus: str, options: JobOptions) -> JobOptions:
    """The options of a job that quotes an estimate: its own, with the models that were estimated.

    Raises:
        Outrun: a compile now would be another one than was estimated.
    """
    named = replace(estimate.options, **_unpriced(options))
    is_other = money_options(options) not in (money_options(JobOptions()), money_options(named))
    now = _fingerprint(server, estimate.tenant, corpus, named) if estimate.corpus == corpus else ""
    if is_other or now != estimate.fingerprint:
        raise Outrun("estimate_outdated", estimate=estimate.estimate)
    return named


def job_compile_options(server: Server, tenant: str, corpus: str, options: JobOptions) -> CompileOptions:
    """The options of the compile behind a job."""
    return replace(
        options_of_corpus(server, tenant, corpus),
        model=options.model,
        summary_model=options.summary_model,
        grouping_model=options.grouping_model,
        max_cost=options.max_cost,
        is_batch=options.batch,
        regroup=options.regroup,
        strict=options.strict,
        is_confirmed=options.confirmed,
        activate=options.activate,
    )


def job_host(server: Server, tenant: str, corpus: str) -> CompileHost:
    """Where a job's compile has its documents and their texts from."""
    return CompileHost(
        reader=uploaded_sources(server, tenant, corpus), extractor=cached_extractor(server, tenant)
    )


def money_options(options: JobOptions) -> JobOptions:
    """What of the options decides the price."""
    return replace(options, max_cost=None, strict=False, confirmed=False, activate=True)


def _estimated(server: Server, tenant: str, corpus: str, options: JobOptions) -> Estimate:
    fingerprint = _fingerprint(server, tenant, corpus, options)  # before: what comes meanwhile outdates it
    workspace = server.workspace(tenant)
    compile_options = job_compile_options(server, tenant, corpus, options)
    host = job_host(server, tenant, corpus)
    estimated = asyncio.run(estimate_compile(workspace, compile_options, silent, host))
    plan, settings = estimated.plan, workspace.settings
    lines = tuple(map(_line, estimated.spending))
    return Estimate(
        estimate=server.ids.new("estimate"),
        tenant=tenant,
        corpus=corpus,
        options=options,
        fingerprint=fingerprint,
        created_at=moment_of(server.clock.now()),
        chunks=plan.chunks,
        to_summarize=len(plan.to_summarize),
        to_group=plan.to_group,
        refused=sum(failed_item(report) is not None for report in plan.reports),
        lines=lines,
        minutes=probable_minutes(lines, settings.concurrency, settings.requests_per_minute),
    )


def _unpriced(options: JobOptions) -> dict[str, bool | float | None]:
    return {
        "max_cost": options.max_cost,
        "strict": options.strict,
        "confirmed": options.confirmed,
        "activate": options.activate,
    }


def _fingerprint(server: Server, tenant: str, corpus: str, options: JobOptions) -> str:
    """SHA-256 over all that an estimate depends on, without reading a document."""
    workspace = server.workspace(tenant)
    try:
        active = workspace.versions.active(corpus)
    except Damaged:
        active = None
    uploads = server.uploads.names(tenant, corpus)
    compile_options = job_compile_options(server, tenant, corpus, money_options(options))
    parts: list[object] = [
        active,
        sorted((name, upload.sha256) for name, upload in uploads.items()),
        [_files_below(Path(path)) for path in workspace.versions.config(corpus).paths],
        to_json(compile_options),
        _models(workspace.settings, compile_options),
    ]
    return hashlib.sha256(json.dumps(parts, ensure_ascii=True).encode("ascii")).hexdigest()


def _models(settings: Settings, options: CompileOptions) -> list[str | None]:
    """What the tenant's settings make of the options."""
    models = compile_models(settings, options)
    names = (models.summarize, models.group)
    prices = (settings.prices, settings.input_price, settings.output_price)
    return [*(None if name is None else str(name) for name in names), repr(prices)]


def _files_below(path: Path) -> list[tuple[str, int, int]]:
    """Name, size and time of every file."""
    folders = [(str(path.parent), (), (path.name,))] if path.is_file() else os.walk(path)
    found: list[tuple[str, int, int]] = []
    for folder, _, names in folders:
        for name in names:
            file = Path(folder) / name
            try:
                known = file.stat()
            except OSError:
                continue
            found.append((str(file), known.st_size, known.st_mtime_ns))
    return sorted(found)


def _line(spending: EstimatedSpending) -> EstimateLine:
    return EstimateLine(
        purpose=spending.purpose,
        model=spending.model,
        calls=_pair(spending.calls),
        input_tokens=_pair(spending.input_tokens),
        output_tokens=_pair(spending.output_tokens),
        dollars=None if spending.dollars is None else _pair(spending.dollars),
    )


def _pair(span: Span) -> tuple[float, float]:
    return span.low, span.high
