"""Prometheus metrics of schedules, workflows, queues and workers; docs/operations.md has the alerts.

Each scrape reads the gauges from the database, so any web process reports for the whole installation.
"""

from collections.abc import Iterable
from datetime import timedelta

from django.conf import settings
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from jobs import counters, metrics
from jobs.models import Counter, PausedRole
from jobs.queries import known_roles
from jobs.sql import call
from scheduler import beats
from scheduler.clock import database_now
from scheduler.models import Minute
from scheduler.sql import reports
from scheduler.states import OccurrenceOutcome

DAY = 86_400
# When the last counted minute began, unless nothing counts them now.
RECENT = timedelta(minutes=3)
ENGINE_COUNTERS = {
    counters.FENCED: "Writes rejected by a newer fence.",
    counters.DUPLICATES: "Messages that found nothing to claim.",
    counters.RESCUED: "Runs whose lease expired.",
    counters.LOST: "Pool processes that died during a run.",
    counters.RESENT: "Republished messages.",
    counters.RESEEDED: "Times that Redis had lost its data.",
    counters.POISON: "Executions quarantined because they crash their workers.",
}


def register() -> None:
    metrics.register("schedules", schedules)
    metrics.register("workflow_runs", workflow_runs)
    metrics.register("queues", queues)
    metrics.register("executions", executions)
    metrics.register("engine", engine)


def schedules() -> Iterable[Metric]:
    enabled, paused, overdue, failing = call.rows(reports.SCHEDULE_FIGURES)[0]
    running = beats.status().running
    yield GaugeMetricFamily("dure_beats", "Beats that were seen within the last ten seconds.", running)
    states = GaugeMetricFamily("dure_schedules", "Schedules, by state.", labels=["state"])
    states.add_metric(["enabled"], enabled)
    states.add_metric(["paused"], paused)
    yield states
    yield GaugeMetricFamily(
        "dure_schedules_failing",
        "Schedules whose runs failed or were missed so often that they notified.",
        failing,
    )
    yield GaugeMetricFamily(
        "dure_schedule_overdue_seconds",
        "How long the most overdue schedule has been due. Grows when no beat runs.",
        max(0.0, overdue),
    )
    recent = {outcome: (count, lag) for outcome, count, lag in call.rows(reports.RECENT_OCCURRENCE_COUNTS)}
    occurrences = GaugeMetricFamily(
        "dure_schedule_turns_5m", "Scheduled runs decided in the last 5 minutes.", labels=["turn"]
    )
    for outcome in OccurrenceOutcome.values:
        occurrences.add_metric([outcome], recent.get(outcome, (0, 0.0))[0])
    yield occurrences
    yield GaugeMetricFamily(
        "dure_schedule_lag_seconds",
        "The longest time from due to fired, of the scheduled runs of the last 5 minutes.",
        recent.get(OccurrenceOutcome.RUN, (0, 0.0))[1],
    )


def workflow_runs() -> Iterable[Metric]:
    pending, running, overdue = call.rows(reports.RUN_FIGURES)[0]
    runs = GaugeMetricFamily("dure_workflow_runs", "Workflow runs that have not ended.", labels=["state"])
    runs.add_metric(["pending"], pending)
    runs.add_metric(["running"], running)
    yield runs
    yield GaugeMetricFamily(
        "dure_workflow_run_overdue_seconds", "How long the most overdue run has been due.", max(0.0, overdue)
    )


def queues() -> Iterable[Metric]:
    live = {role: (count, busy, age) for role, count, busy, age in call.rows(reports.QUEUES)}
    probes = {role: seconds for role, seconds, _ in call.rows(reports.QUEUE_PROBES)}
    workers = dict(call.rows(reports.WORKERS_BY_ROLE, {"alive": settings.DURE_LEASE_SECONDS}))
    ready = GaugeMetricFamily("dure_queue_ready", "Queued work.", labels=["role"])
    running = GaugeMetricFamily("dure_queue_running", "Running Executions.", labels=["role"])
    oldest = GaugeMetricFamily(
        "dure_queue_oldest_ready_seconds", "Age of the oldest queued work.", labels=["role"]
    )
    probe = GaugeMetricFamily(
        "dure_queue_canary_seconds", "Since a worker last consumed a queue probe.", labels=["role"]
    )
    alive = GaugeMetricFamily("dure_workers", "Online workers that serve this role.", labels=["role"])
    stopped = GaugeMetricFamily("dure_queue_paused", "1 while the queue is paused.", labels=["role"])
    paused = set(PausedRole.objects.values_list("role", flat=True))
    for role in dict.fromkeys([*known_roles(), *sorted({*live, *paused}), settings.DURE_CONTROL_QUEUE]):
        count, busy, age = live.get(role, (0, 0, None))
        ready.add_metric([role], count)
        running.add_metric([role], busy)
        oldest.add_metric([role], max(0.0, age or 0.0))
        alive.add_metric([role], workers.get(role, 0))
        stopped.add_metric([role], role in paused)
        if role in probes:
            probe.add_metric([role], probes[role])
    yield from (ready, running, oldest, probe, alive, stopped)


def executions() -> Iterable[Metric]:
    expired, since = call.rows(reports.EXPIRED_LEASES)[0]
    yield GaugeMetricFamily(
        "dure_leases_expired", "Runs with an expired lease that are not rescued yet.", expired
    )
    yield GaugeMetricFamily("dure_lease_expired_seconds", "How long the oldest of them has waited.", since)
    oldest = call.rows(reports.OLDEST_END)[0][0] or 0.0
    yield GaugeMetricFamily(
        "dure_retention_overdue_seconds",
        "How much longer than DURE_RETENTION_DAYS the oldest ended Execution has been kept.",
        max(0.0, oldest - settings.DURE_RETENTION_DAYS * DAY),
    )
    if last := Minute.objects.order_by("-minute").first():
        is_recent = database_now() - last.minute < RECENT
        ended = GaugeMetricFamily(
            "dure_executions_last_minute",
            "Executions that ended in the last counted minute.",
            labels=["outcome"],
        )
        ended.add_metric(["done"], last.done if is_recent else 0)
        ended.add_metric(["failed"], last.failed if is_recent else 0)
        yield ended
        yield GaugeMetricFamily(
            "dure_execution_wait_seconds",
            "95th percentile from due or created to started, in that minute.",
            (last.wait_ms or 0) / 1000,
        )
        yield GaugeMetricFamily(
            "dure_execution_run_seconds",
            "95th percentile of the last attempts' duration, in that minute.",
            (last.run_ms or 0) / 1000,
        )


def engine() -> Iterable[Metric]:
    values = dict(Counter.objects.values_list("name", "value"))
    for name, meaning in ENGINE_COUNTERS.items():
        yield CounterMetricFamily(f"dure_{name}", meaning, values.get(name, 0))
