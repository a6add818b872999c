"""Measures for Prometheus."""

from __future__ import annotations

from collections.abc import Mapping

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)
_RUN_SECONDS = (0.1, 0.5, 1, 2, 5, 10, 20, 30, 60, 120)


class PrometheusMeasures:
    """`ports.measures.Measures` with a registry of its own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        to = self._registry
        self._requests = Counter(
            "corpus2skill_requests", "Requests answered.", ("method", "route", "status"), registry=to
        )
        self._seconds = Histogram(
            "corpus2skill_request_seconds", "Until the last byte.", ("route",), buckets=_SECONDS, registry=to
        )
        self._runs = Counter("corpus2skill_runs", "Runs recorded.", ("outcome", "model"), registry=to)
        self._run_seconds = Histogram(
            "corpus2skill_run_seconds",
            "Of runs, from question to record.",
            ("outcome",),
            buckets=_RUN_SECONDS,
            registry=to,
        )
        self._tokens = Counter("corpus2skill_run_tokens", "Of runs.", ("model", "direction"), registry=to)
        self._dollars = Counter("corpus2skill_run_dollars", "Of runs, where known.", ("model",), registry=to)
        self._watchers = Gauge("corpus2skill_watchers", "Streams of events that are open.", registry=to)
        self._jobs = Gauge("corpus2skill_jobs", "Jobs by state.", ("state",), registry=to)

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(route).observe(seconds)

    def run(
        self,
        outcome: str,
        seconds: float,
        *,
        model: str,
        input_tokens: int,
        output_tokens: int,
        dollars: float | None,
    ) -> None:
        self._runs.labels(outcome, model).inc()
        self._run_seconds.labels(outcome).observe(seconds)
        self._tokens.labels(model, "input").inc(input_tokens)
        self._tokens.labels(model, "output").inc(output_tokens)
        if dollars is not None:
            self._dollars.labels(model).inc(dollars)

    def exposition(self, *, watchers: int, jobs: Mapping[str, int]) -> bytes:
        self._watchers.set(watchers)
        self._jobs.clear()
        for state, count in jobs.items():
            self._jobs.labels(state).set(count)
        return generate_latest(self._registry)
