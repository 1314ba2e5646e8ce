"""The registry of what /metrics shows; an app registers what it can count.

    from jobs.api.framework.metrics import register

    register("jobs", collect)      # collect() yields prometheus_client Metrics, asked at each scrape

Gauges are read from the database as they are scraped, so no process has to share memory with another.
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
    """Under one name once: registering again replaces."""
    _collects[name] = collect


class _Registered:
    """One that fails costs only its own figures, and says so."""

    def collect(self) -> Iterable[Metric]:
        up = GaugeMetricFamily(
            "dure_collector_up", "1 where the figures could be read.", labels=["collector"]
        )
        for name, collect in _collects.items():
            try:
                found = list(collect())
            except Exception as error:
                log.error("The figures of %s cannot be read: %s", name, error)
                up.add_metric([name], 0)
            else:
                up.add_metric([name], 1)
                yield from found
        yield up


REGISTRY.register(_Registered())
