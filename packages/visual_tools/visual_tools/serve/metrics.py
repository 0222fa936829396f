"""Counters of a service, as Prometheus reads them: calls and their ends, seconds, queues, workers, restarts, images."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from prometheus_client import CollectorRegistry, Counter, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from visual_tools.serve.pool import Pool
from visual_tools.serve.store import Trajectories

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
"""Upper ends of the histogram's parts."""


class ServiceMetrics(Collector):
    """Counters of one service.

    Args:
        pools: its pools, by name.
        store: its images.
    """

    def __init__(self, pools: Mapping[str, Pool], store: Trajectories) -> None:
        self._pools, self._store = pools, store
        self._registry = CollectorRegistry()
        self._calls = Counter("kit_calls", "Calls that ended", ["tool", "status"], registry=self._registry)
        self._seconds = Histogram(
            "kit_call_seconds", "From a call's arrival to its reply", ["tool"], buckets=SECONDS, registry=self._registry
        )
        self._registry.register(self)
        ProcessCollector(registry=self._registry)

    def count(self, tool: str, status: str, seconds: float) -> None:
        """Count a call.

        Args:
            tool: its name; only of tools that exist, or the counters would grow with what callers think up.
            status: how it ended.
            seconds: from its arrival to its reply.
        """
        self._calls.labels(tool, status).inc()
        self._seconds.labels(tool).observe(seconds)

    def text(self) -> bytes:
        """All of it, in Prometheus' text format."""
        return generate_latest(self._registry)

    def collect(self) -> Iterable[Metric]:
        """Read pools and store as they are at this moment."""
        waiting = GaugeMetricFamily("kit_calls_waiting", "Calls that wait for a worker", labels=["pool"])
        workers = GaugeMetricFamily("kit_workers", "Workers by what they do", labels=["pool", "state"])
        restarts = CounterMetricFamily("kit_restarts", "Workers that were started again", labels=["pool", "why"])
        for name, pool in self._pools.items():
            waiting.add_metric([name], len(pool.waiting))
            for state in ("starting", "ready", "busy", "failed"):
                workers.add_metric([name, state], sum(worker.state == state for worker in pool.workers))
            for why in ("died", "timeout", "failed"):
                restarts.add_metric([name, why], sum(worker.restarts[why] for worker in pool.workers))
        yield from (waiting, workers, restarts)
        yield GaugeMetricFamily("kit_trajectories", "Trajectories whose images are kept", value=len(self._store))
        yield GaugeMetricFamily("kit_image_bytes", "Bytes of the images that are kept", value=self._store.bytes)
        yield CounterMetricFamily("kit_evicted", "Trajectories that made room for others", value=self._store.evicted)
