"""Executions, the unit of exactly-once, and the attempts inside them."""

from django.db import models
from django.db.models import Q
from django.db.models.expressions import RawSQL

from jobs.ids import uuid7
from jobs.states import (
    EXECUTION_LIVE,
    Backoff,
    ExecutionStatus,
    FailureType,
    OnLost,
    Outcome,
    Trigger,
)


class Execution(models.Model):
    """One run of a Task. `dispatch` names the message that may claim it, `fence` its owner.

    Not guaranteed: that the body started only once. After a crash it may start again; only one
    start's outcome is ever accepted.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    task_id = models.CharField(max_length=200)
    role = models.CharField(max_length=40)
    trigger = models.CharField(max_length=10, choices=Trigger.choices)
    # Whose job it runs; both empty when no job owns it. The engine is the only writer, so the two
    # hottest references (here and in Attempt) are not looked up again by the database.
    office_id = models.UUIDField(null=True, blank=True)
    job = models.ForeignKey(
        "jobs.Job",
        on_delete=models.CASCADE,
        related_name="executions",
        null=True,
        blank=True,
        db_constraint=False,
    )
    # What caused it, when that is no job: the id of a schedule, a step, an export.
    source = models.CharField(max_length=80, blank=True)
    args = models.JSONField(default=dict)
    status = models.CharField(max_length=10, choices=ExecutionStatus.choices, default=ExecutionStatus.PENDING)

    dispatch = models.IntegerField(default=1)
    dispatched_at = models.DateTimeField(null=True, blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    sent_count = models.IntegerField(default=0)
    due_at = models.DateTimeField(null=True, blank=True)

    fence = models.BigIntegerField(default=0)
    token = models.CharField(max_length=80, blank=True)
    worker = models.CharField(max_length=200, blank=True)
    locked_until = models.DateTimeField(null=True, blank=True)

    attempt = models.IntegerField(default=0)
    retry_count = models.IntegerField(default=0)
    crash_count = models.IntegerField(default=0)
    max_retries = models.IntegerField(default=3)
    retry_backoff = models.CharField(max_length=12, choices=Backoff.choices, default=Backoff.EXPONENTIAL)
    retry_base_delay_ms = models.BigIntegerField(default=60_000)
    timeout_ms = models.BigIntegerField(default=1_800_000)
    on_lost = models.CharField(max_length=8, choices=OnLost.choices, default=OnLost.RETRY)

    created_at = models.DateTimeField()
    scheduled_for = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    attempt_started_at = models.DateTimeField(null=True, blank=True)
    timeout_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    cancel_requested_at = models.DateTimeField(null=True, blank=True)

    result = models.JSONField(null=True, blank=True)
    failure_type = models.CharField(max_length=20, choices=FailureType.choices, blank=True)
    error = models.TextField(blank=True)
    progress = models.JSONField(null=True, blank=True)
    session_id = models.CharField(max_length=100, blank=True)

    class Meta:
        db_table = "job_executions"
        indexes = [
            # rescue: leases that ran out.
            models.Index(
                fields=["locked_until"], name="executions_leased", condition=Q(status=ExecutionStatus.RUNNING)
            ),
            # republish: sent, and not claimed.
            models.Index(
                fields=["sent_at"],
                name="executions_sent",
                condition=Q(status=ExecutionStatus.PENDING, dispatched_at__isnull=False),
            ),
            # wake: retries of Executions that no job owns.
            models.Index(
                fields=["due_at"],
                name="executions_due",
                condition=Q(status=ExecutionStatus.PENDING, due_at__isnull=False, job__isnull=True),
            ),
            # is one of this Task, or of this source, still live?
            models.Index(
                fields=["task_id", "trigger"],
                name="executions_live",
                condition=Q(status__in=EXECUTION_LIVE, job__isnull=True),
            ),
            models.Index(fields=["trigger", "source"], name="executions_of_source", condition=~Q(source="")),
            # by end: retention and the monitor. (The list, newest first, is the order of the ids.)
            models.Index(
                fields=["finished_at"], name="executions_ended", condition=Q(finished_at__isnull=False)
            ),
        ]
        constraints = [
            # A function of jobs/sql/engine.sql: the text of a check is parsed again for every write.
            models.CheckConstraint(
                name="execution_is_whole",
                condition=RawSQL(
                    "dure_execution_is_whole(status, locked_until, finished_at, trigger, job_id)",
                    (),
                    output_field=models.BooleanField(),
                ),
            ),
            models.UniqueConstraint(
                fields=["job"], name="one_live_execution_per_job", condition=Q(status__in=EXECUTION_LIVE)
            ),
        ]

    def __str__(self) -> str:
        return f"{self.task_id} {self.id}"


class Attempt(models.Model):
    """One try inside an Execution, written when it ends."""

    # Written together with its Execution, by the engine alone: nothing is gained by looking it up again.
    execution = models.ForeignKey(
        Execution, on_delete=models.CASCADE, related_name="attempts", db_index=False, db_constraint=False
    )
    number = models.IntegerField()
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField()
    outcome = models.CharField(max_length=12, choices=Outcome.choices)
    failure_type = models.CharField(max_length=20, blank=True)
    error = models.TextField(blank=True)
    worker = models.CharField(max_length=200, blank=True)
    token = models.CharField(max_length=80, blank=True)

    class Meta:
        db_table = "job_attempts"
        ordering = ["execution", "number"]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.execution_id}"
