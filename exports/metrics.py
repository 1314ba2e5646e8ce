"""Prometheus figures of exports, dead letters, the outbox and the streams; docs/operations.md has the alerts.

Gauges, read at each scrape, so whichever web process is asked answers for all. Those of the streams come
from Redis and have a collector of their own: when Redis is away the others are still there.
"""

from collections.abc import Iterable
from typing import Any

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from exports import sql
from exports.messages import PROGRESS, REQUESTS, RESULTS
from exports.states import LIVE, TERMINAL, ErrorCode, JobType, Status
from jobs import redis
from jobs.api.framework import metrics
from jobs.sql import call

HOUR = {"seconds": 3_600}
FOREIGN = "other"  # the words of foreign workers: as labels they would be without number


def register() -> None:
    metrics.register("exports", exports)
    metrics.register("dead_letters", dead_letters)
    metrics.register("stream_outbox", outbox)
    metrics.register("streams", streams)


def exports() -> Iterable[Metric]:
    live = {status: (count, age, silent) for status, count, age, silent in call.rows(sql.LIVE_FIGURES)}
    count = GaugeMetricFamily("dure_exports", "Exports that have not ended.", labels=["status"])
    for status in sorted(LIVE):
        count.add_metric([status], live.get(status, (0, 0, 0))[0])
    yield count
    yield GaugeMetricFamily(
        "dure_export_oldest_queued_seconds",
        "How long the oldest export has waited for a worker.",
        live.get(Status.QUEUED, (0, 0.0, 0.0))[1],
    )
    yield GaugeMetricFamily(
        "dure_export_silent_seconds",
        "How long nothing was heard of the running export of which that is longest.",
        live.get(Status.RUNNING, (0, 0.0, 0.0))[2],
    )
    yield from ended_lately()


def ended_lately() -> Iterable[Metric]:
    rows = call.rows(sql.ENDED_FIGURES, HOUR)
    ended = GaugeMetricFamily("dure_exports_1h", "Exports that ended in the last hour.", labels=["status"])
    for status in sorted(TERMINAL):
        ended.add_metric([status], sum(row[3] for row in rows if row[0] == status))
    yield ended
    failed = GaugeMetricFamily(
        "dure_exports_failed_1h", "Of them those that failed, by why.", labels=["code"]
    )
    for code in (*ErrorCode.values, FOREIGN):
        known = (row for row in rows if row[0] == Status.FAILED and _code(row[2]) == code)
        failed.add_metric([code], sum(row[3] for row in known))
    yield failed
    took = GaugeMetricFamily(
        "dure_export_seconds",
        "95th percentile from the first sign of a worker to the file, of those made in the last hour.",
        labels=["type"],
    )
    slowest = {row[1]: row[4] for row in rows if row[0] == Status.SUCCEEDED}
    for job_type in JobType.values:
        took.add_metric([job_type], slowest.get(job_type, 0.0))
    yield took


def _code(code: str) -> str:
    return code if code in ErrorCode.values else FOREIGN


def dead_letters() -> Iterable[Metric]:
    count, age = call.rows(sql.OPEN_LETTERS)[0]
    yield GaugeMetricFamily("dure_dead_letters", "Dead letters that no operator has dealt with.", count)
    yield GaugeMetricFamily("dure_dead_letter_oldest_seconds", "Age of the oldest of them.", age)


def outbox() -> Iterable[Metric]:
    count, age = call.rows(sql.OUTBOX_FIGURES)[0]
    yield GaugeMetricFamily("dure_stream_outbox", "Messages that are yet to go out to the streams.", count)
    yield GaugeMetricFamily("dure_stream_outbox_oldest_seconds", "Age of the oldest of them.", age)


def streams() -> Iterable[Metric]:
    labels = ["stream", "group"]
    pending = GaugeMetricFamily(
        "dure_stream_pending", "Messages that were handed out and are not done.", labels=labels
    )
    lag = GaugeMetricFamily("dure_stream_lag", "Messages that nobody was given yet.", labels=labels)
    oldest = GaugeMetricFamily(
        "dure_stream_oldest_seconds", "Age of the oldest message that is not done.", labels=labels
    )
    client: Any = redis.client()
    seconds, micros = client.time()
    now = seconds + micros / 1e6
    for stream in (REQUESTS, PROGRESS, RESULTS):
        for group in groups_of(client, stream):
            name = group["name"]
            pending.add_metric([stream, name], group["pending"])
            # Redis cannot tell when messages were deleted out of the middle of a stream.
            if group.get("lag") is not None:
                lag.add_metric([stream, name], group["lag"])
            oldest.add_metric([stream, name], age_of_oldest(client, stream, group, now))
    yield from (pending, lag, oldest)


def groups_of(client: Any, stream: str) -> list[dict[str, Any]]:
    return list(client.xinfo_groups(stream)) if client.exists(stream) else []


def age_of_oldest(client: Any, stream: str, group: dict[str, Any], now: float) -> float:
    """By the clock in its id: of the oldest that was handed out, else of the first that was not."""
    first = client.xpending(stream, group["name"])["min"] if group["pending"] else None
    if first is None:
        waiting = client.xrange(stream, min=f"({group['last-delivered-id']}", count=1)
        first = waiting[0][0] if waiting else None
    return max(0.0, now - int(first.partition("-")[0]) / 1000) if first else 0.0
