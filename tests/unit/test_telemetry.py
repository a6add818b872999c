"""Traces of runs and jobs, by OpenTelemetry's conventions."""

from __future__ import annotations

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from corpus2skill.adapters.telemetry import NoTraces, OtelTraces, open_traces
from tests.ports.runs import record, visit


def test_a_run_is_a_span_with_a_span_for_each_round() -> None:
    """Issue 6: OpenTelemetry traces by an extra; no text of a question, an answer or a reason leaves."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    OtelTraces(provider).run(record("run_1", visits=(visit(1), visit(2))))
    *rounds, run = exporter.get_finished_spans()
    assert run.name == "invoke_agent corpus2skill"
    assert run.attributes is not None
    assert run.attributes["gen_ai.operation.name"] == "invoke_agent"
    assert run.attributes["corpus2skill.outcome"] == "answered"
    assert [span.name for span in rounds] == ["chat offline", "chat offline"]
    assert {span.parent.span_id for span in rounds if span.parent} == {run.context.span_id}
    assert "解約" not in "".join(span.to_json() for span in (run, *rounds))
    assert (run.end_time or 0) - (run.start_time or 0) == 1_000_000_000


def test_nothing_is_traced_unless_a_collector_is_named() -> None:
    """Off by default."""
    assert isinstance(open_traces({}), NoTraces)
