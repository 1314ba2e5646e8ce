"""The metrics of step queues on /metrics."""

from collections.abc import Iterable

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from scheduler.steps.models import Step, StepQueue
from scheduler.steps.states import JobState, QueueState, append_state


def collect() -> Iterable[Metric]:
    running = StepQueue.objects.filter(state=QueueState.RUNNING).count()
    failed = Step.objects.filter(state__endswith=append_state("", JobState.FAILED)).count()
    yield GaugeMetricFamily("dure_step_queues_running", "Step queues that are running.", value=running)
    yield GaugeMetricFamily(
        "dure_step_undo_failed_open", "Backward operations that failed and were not run again.", value=failed
    )
