"""The registry of /metrics; each app registers a collector.

    from jobs.metrics import register

    register("jobs", collect)      # collect() yields prometheus_client Metrics at each scrape

Gauges are read from the database at each scrape, so processes need no shared memory.
"""

import logging
from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, GCCollector, Histogram, PlatformCollector, ProcessCollector
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric

log = logging.getLogger(__name__)

REGISTRY = CollectorRegistry()
for collector in (ProcessCollector, PlatformCollector, GCCollector):
    collector(registry=REGISTRY)

REQUESTS = Histogram(
    "dure_http_request_seconds",
    "How long requests took in this process, by the pattern of their address.",
    ["method", "route", "status"],
    registry=REGISTRY,
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10),
)

Collect = Callable[[], Iterable[Metric]]
_collects: dict[str, Collect] = {}


def register(name: str, collect: Collect) -> None:
    """Registering a name again replaces its collector."""
    _collects[name] = collect


class _Registered:
    """Collects from all apps. A collector that fails loses only its own metrics, and is reported as down."""

    def collect(self) -> Iterable[Metric]:
        up = GaugeMetricFamily("dure_collector_up", "1 if the metrics could be read.", labels=["collector"])
        for name, collect in _collects.items():
            try:
                metrics = list(collect())
            except Exception as error:
                log.error("The metrics of %s cannot be read: %s", name, error)
                up.add_metric([name], 0)
            else:
                up.add_metric([name], 1)
                yield from metrics
        yield up


REGISTRY.register(_Registered())
