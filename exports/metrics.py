"""Prometheus metrics of exports, dead letters, the outbox and the streams; docs/operations.md has the alerts.

All are gauges that are read at each scrape, so any web process answers for all. The metrics of the streams
come from Redis and have their own collector, so that an outage of Redis hides only them.
"""

from collections.abc import Iterable
from typing import Any

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from exports import sql
from exports.messages import INPUTS
from exports.states import LIVE, TERMINAL, ErrorCode, JobType, Status
from jobs import metrics, redis
from jobs.sql import call

HOUR = {"seconds": 3_600}
FOREIGN = "other"  # codes of foreign workers; as labels they would be unbounded


def register() -> None:
    metrics.register("exports", exports)
    metrics.register("dead_letters", dead_letters)
    metrics.register("stream_outbox", outbox)
    metrics.register("streams", streams)


def exports() -> Iterable[Metric]:
    live = {status: (count, age, silent) for status, count, age, silent in call.rows(sql.LIVE_METRICS)}
    count = GaugeMetricFamily("dure_exports", "Exports that have not ended.", labels=["status"])
    for status in sorted(LIVE):
        count.add_metric([status], live.get(status, (0, 0, 0))[0])
    yield count
    yield GaugeMetricFamily(
        "dure_export_oldest_queued_seconds",
        "Age of the oldest export that waits for a worker.",
        live.get(Status.QUEUED, (0, 0.0, 0.0))[1],
    )
    yield GaugeMetricFamily(
        "dure_export_silent_seconds",
        "The longest time since the last message about a running export.",
        live.get(Status.RUNNING, (0, 0.0, 0.0))[2],
    )
    yield from ended_recently()


def ended_recently() -> Iterable[Metric]:
    rows = call.rows(sql.ENDED_METRICS, HOUR)
    ended = GaugeMetricFamily("dure_exports_1h", "Exports that ended in the last hour.", labels=["status"])
    for status in sorted(TERMINAL):
        ended.add_metric([status], sum(row[3] for row in rows if row[0] == status))
    yield ended
    failed = GaugeMetricFamily(
        "dure_exports_failed_1h", "Exports that failed in the last hour, by error code.", labels=["code"]
    )
    for code in (*ErrorCode.values, FOREIGN):
        matching = (row for row in rows if row[0] == Status.FAILED and _code(row[2]) == code)
        failed.add_metric([code], sum(row[3] for row in matching))
    yield failed
    duration = GaugeMetricFamily(
        "dure_export_seconds",
        "95th percentile from the first message of a worker to the result, in the last hour.",
        labels=["type"],
    )
    slowest = {row[1]: row[4] for row in rows if row[0] == Status.SUCCEEDED}
    for job_type in JobType.values:
        duration.add_metric([job_type], slowest.get(job_type, 0.0))
    yield duration


def _code(code: str) -> str:
    return code if code in ErrorCode.values else FOREIGN


def dead_letters() -> Iterable[Metric]:
    count, age = call.rows(sql.OPEN_DEAD_LETTERS)[0]
    yield GaugeMetricFamily("dure_dead_letters", "Dead letters that no operator has handled.", count)
    yield GaugeMetricFamily("dure_dead_letter_oldest_seconds", "Age of the oldest one.", age)


def outbox() -> Iterable[Metric]:
    count, age = call.rows(sql.OUTBOX)[0]
    yield GaugeMetricFamily("dure_stream_outbox", "Messages that wait to be sent to the streams.", count)
    yield GaugeMetricFamily("dure_stream_outbox_oldest_seconds", "Age of the oldest one.", age)


def streams() -> Iterable[Metric]:
    labels = ["stream", "group"]
    pending = GaugeMetricFamily(
        "dure_stream_pending", "Messages that were delivered and not acknowledged.", labels=labels
    )
    lag = GaugeMetricFamily("dure_stream_lag", "Messages that were not delivered yet.", labels=labels)
    oldest = GaugeMetricFamily(
        "dure_stream_oldest_seconds", "Age of the oldest message that is not acknowledged.", labels=labels
    )
    client: Any = redis.client()
    seconds, micros = client.time()
    now = seconds + micros / 1e6
    for stream in INPUTS:
        for group in groups_of(client, stream):
            name = group["name"]
            pending.add_metric([stream, name], group["pending"])
            # Redis does not know the lag when messages were deleted from the middle of a stream.
            if group.get("lag") is not None:
                lag.add_metric([stream, name], group["lag"])
            oldest.add_metric([stream, name], age_of_oldest(client, stream, group, now))
    yield from (pending, lag, oldest)


def groups_of(client: Any, stream: str) -> list[dict[str, Any]]:
    return list(client.xinfo_groups(stream)) if client.exists(stream) else []


def age_of_oldest(client: Any, stream: str, group: dict[str, Any], now: float) -> float:
    """The age of the oldest delivered, or else the first undelivered message, by the time in its id."""
    first = client.xpending(stream, group["name"])["min"] if group["pending"] else None
    if first is None:
        waiting = client.xrange(stream, min=f"({group['last-delivered-id']}", count=1)
        first = waiting[0][0] if waiting else None
    return max(0.0, now - int(first.partition("-")[0]) / 1000) if first else 0.0
