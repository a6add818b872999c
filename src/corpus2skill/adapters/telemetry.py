"""Traces for OpenTelemetry, by its conventions for generative AI. Off unless an endpoint is named.

Requests are traced by the web framework itself, into the same provider.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from corpus2skill.domain.run import RunRecord
from corpus2skill.domain.server_job import ServerJob
from corpus2skill.domain.trail import Visit
from corpus2skill.ports.traces import Traces

if TYPE_CHECKING:
    from opentelemetry.context import Context
    from opentelemetry.sdk.trace import TracerProvider

_log = logging.getLogger(__name__)

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
_SYSTEM = "corpus2skill"
_OPERATION, _MODEL = "gen_ai.operation.name", "gen_ai.request.model"
_INPUT, _OUTPUT = "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"
_MILLION = 1_000_000


class NoTraces:
    """`ports.traces.Traces` where nobody asked for them."""

    def run(self, record: RunRecord) -> None: ...

    def job(self, job: ServerJob) -> None: ...


class OtelTraces:
    """`ports.traces.Traces` into a provider of OpenTelemetry."""

    def __init__(self, provider: TracerProvider) -> None:
        self._tracer = provider.get_tracer(_SYSTEM)

    def run(self, record: RunRecord) -> None:
        began = _nanoseconds(record.started_at)
        span = self._tracer.start_span(
            f"invoke_agent {_SYSTEM}",
            start_time=began,
            attributes={
                _OPERATION: "invoke_agent",
                _MODEL: record.model,
                _INPUT: record.usage.input_tokens,
                _OUTPUT: record.usage.output_tokens,
                "gen_ai.agent.name": _SYSTEM,
                "gen_ai.conversation.id": record.ids.session,
                "corpus2skill.run": record.ids.run,
                "corpus2skill.outcome": record.outcome,
                "corpus2skill.fetches": record.fetches,
            },
        )
        context = _context_of(span)
        for visit in record.visits:
            self._round(record.model, began, visit, context)
        span.end(end_time=began + record.total_ms * _MILLION)

    def job(self, job: ServerJob) -> None:
        if job.started_at is None or job.ended_at is None:
            return
        began = _nanoseconds(job.started_at)
        attributes = {"corpus2skill.job": job.job, "corpus2skill.state": job.state}
        span = self._tracer.start_span("compile", start_time=began, attributes=attributes)
        context, at = _context_of(span), began
        for stage in job.progress.stages:
            done = {"corpus2skill.done": stage.done, "corpus2skill.total": stage.total}
            inner = self._tracer.start_span(f"compile {stage.stage}", context, start_time=at, attributes=done)
            at += stage.ms * _MILLION
            inner.end(end_time=at)
        span.end(end_time=max(at, _nanoseconds(job.ended_at)))

    def _round(self, model: str, began: int, visit: Visit, context: Context) -> None:
        """The round that led to a visit; `elapsed_ms` is told when the visit has ended."""
        end = began + max(visit.elapsed_ms - visit.fetch_ms, 0) * _MILLION
        attributes = {
            _OPERATION: "chat",
            _MODEL: model,
            _INPUT: visit.usage.input_tokens,
            _OUTPUT: visit.usage.output_tokens,
            "corpus2skill.visit": visit.number,
        }
        start = end - visit.model_ms * _MILLION
        self._tracer.start_span(f"chat {model}", context, start_time=start, attributes=attributes).end(end)


def open_traces(environment: Mapping[str, str]) -> Traces:
    """Return traces to the collector that the environment names; where it names none, none."""
    if not any(environment.get(name) for name in _ENDPOINTS):
        return NoTraces()
    try:
        return OtelTraces(_exporting_provider())
    except ImportError:
        _log.warning("no traces: install them with pip install 'corpus2skill[telemetry]'")
        return NoTraces()


def _exporting_provider() -> TracerProvider:
    """The provider of this process, which sends to the collector in the background."""
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # type: ignore[import-not-found]
        OTLPSpanExporter,
    )
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider(resource=Resource.create({"service.name": _SYSTEM}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return provider


def _context_of(span: object) -> Context:
    from opentelemetry import trace

    assert isinstance(span, trace.Span)
    return trace.set_span_in_context(span)


def _nanoseconds(moment: str) -> int:
    return round(datetime.fromisoformat(moment).timestamp() * 1000) * _MILLION
