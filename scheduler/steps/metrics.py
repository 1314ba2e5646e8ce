"""The metrics of step queues on /metrics."""

from collections.abc import Iterable

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from jobs.sql import call
from scheduler.steps import sql
from scheduler.steps.states import JobState, QueueState, append_state


def collect() -> Iterable[Metric]:
    pattern = "%" + append_state("", JobState.FAILED)
    ((running, failed),) = call.rows(sql.COUNTS, {"running": QueueState.RUNNING, "undo_failed": pattern})
    yield GaugeMetricFamily("dure_step_queues_running", "Step queues that are running.", value=running)
    yield GaugeMetricFamily(
        "dure_step_undo_failed_open", "Backward operations that failed and were not run again.", value=failed
    )
