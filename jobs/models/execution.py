"""Executions, the unit of exactly-once, and the attempts inside them."""

from django.contrib.postgres.functions import RandomUUID
from django.db import models
from django.db.models import Q, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from jobs.ids import uuid7
from jobs.states import EXECUTION_LIVE, FAILURE_TYPES, Backoff, ExecutionStatus, OnLost, Outcome, Trigger


class Execution(models.Model):
    """One run of a Task. `dispatch` names the message that may claim it, `fence` its owner.

    Not guaranteed: that the body started only once. After a crash it may start again; only one
    start's outcome is ever accepted.

    The database has defaults, so that a plain INSERT of a Task is a manual run. It deletes the Executions of
    a deleted job. No index holds every status, which each change would have to write: partial ones serve each
    state.
    """

    id = models.UUIDField(_("ID"), primary_key=True, default=uuid7, editable=False, db_default=RandomUUID())
    task_id = models.CharField(_("Task"), max_length=200)
    role = models.CharField(_("role"), max_length=64, db_default="default")
    trigger = models.CharField(
        _("trigger"), max_length=10, choices=Trigger.choices, db_default=Trigger.MANUAL.value
    )
    # The office and the job of the run; both empty without a job. The office is not looked up again. The job
    # is a foreign key in the database, with ON DELETE CASCADE: see the migration of the engine.
    office_id = models.UUIDField(_("office"), null=True, blank=True)
    job = models.ForeignKey(
        "jobs.Job",
        on_delete=models.CASCADE,
        related_name="executions",
        null=True,
        blank=True,
        db_constraint=False,
        verbose_name=_("job"),
    )
    # The cause of a run without a job: the id of a schedule, a step or an export.
    source = models.CharField(_("caused by"), max_length=80, blank=True, db_default="")
    # The owner and the Task, while of these one run at a time may run: see dure_hold.
    exclusive_for = models.CharField(_("exclusive for"), max_length=300, blank=True, db_default="")
    args = models.JSONField(_("arguments"), default=dict, db_default=Value({}, models.JSONField()))
    status = models.CharField(
        _("status"),
        max_length=10,
        choices=ExecutionStatus.choices,
        default=ExecutionStatus.PENDING,
        db_default=ExecutionStatus.PENDING.value,
    )

    dispatch = models.IntegerField(_("messages"), default=1, db_default=1)
    dispatched_at = models.DateTimeField(_("sent at"), null=True, blank=True)
    sent_at = models.DateTimeField(_("last sent at"), null=True, blank=True)
    sent_count = models.IntegerField(_("times sent"), default=0, db_default=0)
    due_at = models.DateTimeField(_("due at"), null=True, blank=True, db_default=Now())

    fence = models.BigIntegerField(_("fence"), default=0, db_default=0)
    token = models.CharField(_("token"), max_length=80, blank=True, db_default="")
    worker = models.CharField(_("worker"), max_length=200, blank=True, db_default="")
    locked_until = models.DateTimeField(_("lease until"), null=True, blank=True)

    attempt = models.IntegerField(_("attempt"), default=0, db_default=0)
    retry_count = models.IntegerField(_("retries"), default=0, db_default=0)
    crash_count = models.IntegerField(_("workers lost"), default=0, db_default=0)
    max_retries = models.IntegerField(_("max retries"), default=3, db_default=3)
    retry_backoff = models.CharField(
        _("backoff"),
        max_length=12,
        choices=Backoff.choices,
        default=Backoff.EXPONENTIAL,
        db_default=Backoff.EXPONENTIAL.value,
    )
    retry_base_delay_ms = models.BigIntegerField(
        _("initial retry delay (ms)"), default=60_000, db_default=60_000
    )
    timeout_ms = models.BigIntegerField(_("time limit (ms)"), default=1_800_000, db_default=1_800_000)
    on_lost = models.CharField(
        _("on lost worker"),
        max_length=8,
        choices=OnLost.choices,
        default=OnLost.RETRY,
        db_default=OnLost.RETRY.value,
    )

    created_at = models.DateTimeField(_("created at"), db_default=Now())
    scheduled_for = models.DateTimeField(_("scheduled for"), null=True, blank=True)
    started_at = models.DateTimeField(_("started at"), null=True, blank=True)
    attempt_started_at = models.DateTimeField(_("attempt started at"), null=True, blank=True)
    timeout_at = models.DateTimeField(_("time limit ends at"), null=True, blank=True)
    finished_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    cancel_requested_at = models.DateTimeField(_("cancellation requested at"), null=True, blank=True)

    result = models.JSONField(_("result"), null=True, blank=True)
    failure_type = models.CharField(
        _("failure reason"), max_length=20, choices=FAILURE_TYPES, blank=True, db_default=""
    )
    error = models.TextField(_("error"), blank=True, db_default="")
    progress = models.JSONField(_("progress"), null=True, blank=True)
    session_id = models.CharField(_("session"), max_length=100, blank=True, db_default="")

    class Meta:
        db_table = "job_executions"
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        indexes = [
            # by state, newest first: those that the following do not serve. Most rows are successes: no index
            # helps there.
            models.Index(
                fields=["status", "id"],
                name="idx_job_executions_status",
                condition=Q(status__in=(ExecutionStatus.FAILED, ExecutionStatus.CANCELLED)),
            ),
            # rescue: leases that ran out.
            models.Index(
                fields=["locked_until"], name="executions_leased", condition=Q(status=ExecutionStatus.RUNNING)
            ),
            # message_waits, send_unsent: sent, and not claimed.
            models.Index(
                fields=["role", "sent_at"],
                name="executions_sent",
                condition=Q(status=ExecutionStatus.PENDING, dispatched_at__isnull=False, sent_count__gt=0),
            ),
            # start_next, send_unsent: those that no job owns and that have no message yet.
            models.Index(
                fields=["role", "sent_at"],
                name="executions_unsent",
                condition=Q(
                    status=ExecutionStatus.PENDING,
                    dispatched_at__isnull=False,
                    sent_count=0,
                    job__isnull=True,
                ),
            ),
            # send_due: retries of Executions that no job owns.
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
            models.Index(
                fields=["trigger", "source", "id"], name="executions_by_source", condition=~Q(source="")
            ),
            # by end: retention and the monitor. (The list, newest first, is the order of the ids.)
            models.Index(
                fields=["finished_at"], name="executions_ended", condition=Q(finished_at__isnull=False)
            ),
            # the list of runs, beside the jobs.
            models.Index(fields=["id"], name="executions_without_job", condition=Q(job__isnull=True)),
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
                fields=["exclusive_for"],
                name="one_exclusive_run",
                condition=Q(status=ExecutionStatus.RUNNING) & ~Q(exclusive_for=""),
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
        Execution,
        on_delete=models.CASCADE,
        related_name="attempts",
        db_index=False,
        db_constraint=False,
        verbose_name=_("run"),
    )
    number = models.IntegerField(_("no."))
    started_at = models.DateTimeField(_("started at"))
    timeout_at = models.DateTimeField(_("time limit ends at"))
    ended_at = models.DateTimeField(_("ended at"))
    outcome = models.CharField(_("outcome"), max_length=12, choices=Outcome.choices)
    failure_type = models.CharField(_("failure reason"), max_length=20, blank=True)
    error = models.TextField(_("error"), blank=True)
    traceback = models.TextField(_("traceback"), blank=True, db_default="")
    worker = models.CharField(_("worker"), max_length=200, blank=True)
    token = models.CharField(_("token"), max_length=80, blank=True)
    session_id = models.CharField(_("session"), max_length=100, blank=True, db_default="")

    class Meta:
        db_table = "job_attempts"
        verbose_name = _("attempt")
        verbose_name_plural = _("attempts")
        ordering = ["execution", "number"]
        indexes = [
            # what became of a run, and retention. Rows come in the order of their runs: it grows at its end.
            models.Index(fields=["execution", "number"], name="attempts_of_execution"),
        ]

    def __str__(self) -> str:
        return f"attempt {self.number} of {self.execution_id}"


class EarlyMessage(models.Model):
    """A message that came before its submission, which sends it again: see jobs/early_messages.py."""

    execution = models.UUIDField(primary_key=True)
    at = models.DateTimeField()

    class Meta:
        db_table = "early_messages"

    def __str__(self) -> str:
        return str(self.execution)
