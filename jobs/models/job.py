"""Jobs, the batches they were submitted in, and the edges between them."""

from collections.abc import Sequence
from datetime import datetime

from django.contrib.postgres.functions import RandomUUID
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from jobs import display
from jobs.ids import uuid7
from jobs.models.execution import Execution
from jobs.models.office import Office
from jobs.states import (
    JOB_LIVE,
    JOB_QUEUED,
    JOB_WAITING,
    Backoff,
    ExecutionStatus,
    JobStatus,
    OnDependencyFailure,
    OnLost,
    Trigger,
)


class Batch(models.Model):
    """Jobs that were submitted together, or added to the same id later."""

    id = models.UUIDField(_("ID"), primary_key=True, default=uuid7, editable=False)
    office = models.ForeignKey(
        Office, on_delete=models.CASCADE, related_name="batches", verbose_name=_("office")
    )
    name = models.CharField(_("name"), max_length=200, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    # Of a workflow run: what its steps read as `$input`, and when it was due.
    input = models.JSONField(_("input"), null=True, blank=True)
    scheduled_for = models.DateTimeField(_("scheduled for"), null=True, blank=True)

    class Meta:
        db_table = "job_batches"
        verbose_name = _("batch")
        verbose_name_plural = _("batches")
        # Read by the list of an office's batches, newest first.
        indexes = [models.Index(F("office"), F("created_at").desc(), name="batches_of_office")]

    def __str__(self) -> str:
        return self.name or display.unnamed_batch(self.created_at)


class Job(models.Model):
    """A node of an office's graph. Rows of SQL in jobs/sql/ change it; nothing saves it.

    The database has defaults, so that a plain INSERT of an office and a Task is a job. With edges it needs
    their number in `dependency_count`.
    """

    id = models.UUIDField(_("ID"), primary_key=True, default=uuid7, editable=False, db_default=RandomUUID())
    seq = models.BigIntegerField(_("order"), editable=False)
    office = models.ForeignKey(
        Office, on_delete=models.CASCADE, related_name="jobs", db_index=False, verbose_name=_("office")
    )
    batch = models.ForeignKey(
        Batch,
        on_delete=models.CASCADE,
        related_name="jobs",
        null=True,
        blank=True,
        db_index=False,
        verbose_name=_("batch"),
    )
    ref = models.CharField(_("name"), max_length=200, blank=True, db_default="")
    task_id = models.CharField(_("Task"), max_length=200)
    args = models.JSONField(_("arguments"), default=dict, db_default=Value({}, models.JSONField()))
    role = models.CharField(_("role"), max_length=64, db_default="default")
    priority = models.IntegerField(_("priority"), default=100, db_default=100)
    urgent = models.BooleanField(_("urgent"), default=False, db_default=False)
    status = models.CharField(
        _("status"),
        max_length=12,
        choices=JobStatus.choices,
        default=JobStatus.PENDING,
        db_default=JobStatus.PENDING.value,
    )
    on_dependency_failure = models.CharField(
        _("on failed dependency"),
        max_length=8,
        choices=OnDependencyFailure.choices,
        default=OnDependencyFailure.BLOCK,
        db_default=OnDependencyFailure.BLOCK.value,
    )
    dependency_count = models.IntegerField(_("dependencies"), default=0, db_default=0)

    timeout_ms = models.BigIntegerField(_("time limit (ms)"), db_default=1_800_000)
    max_retries = models.IntegerField(_("max retries"), db_default=2)
    retry_backoff = models.CharField(
        _("backoff"), max_length=12, choices=Backoff.choices, db_default=Backoff.EXPONENTIAL.value
    )
    retry_base_delay_ms = models.BigIntegerField(_("initial retry delay (ms)"), db_default=60_000)
    retry_count = models.IntegerField(_("retries"), default=0, db_default=0)
    on_lost = models.CharField(
        _("on lost worker"),
        max_length=8,
        choices=OnLost.choices,
        default=OnLost.RETRY,
        db_default=OnLost.RETRY.value,
    )
    # JOB, or WORKFLOW for a step of a workflow run.
    trigger = models.CharField(
        _("trigger"),
        max_length=10,
        choices=Trigger.choices,
        default=Trigger.JOB,
        db_default=Trigger.JOB.value,
    )
    run_at = models.DateTimeField(_("not before"), null=True, blank=True)
    retry_at = models.DateTimeField(_("next attempt at"), null=True, blank=True)
    # The later of the two that still lies ahead: what the due sweep looks for.
    due_at = models.DateTimeField(_("due at"), null=True, blank=True)
    unique_key = models.CharField(_("unique key"), max_length=200, blank=True, db_default="")
    # The ids of the jobs that its body has submitted, by the key of the call: a repeated call finds them.
    submissions = models.JSONField(_("submitted jobs"), null=True, blank=True)

    created_at = models.DateTimeField(_("submitted at"), db_default=Now())
    ready_at = models.DateTimeField(_("ready at"), null=True, blank=True)
    # How long it may wait after it became ready, and until when: after that it fails.
    queue_timeout_ms = models.BigIntegerField(_("queue timeout (ms)"), null=True, blank=True)
    queue_timeout_at = models.DateTimeField(_("queue timeout ends at"), null=True, blank=True)
    started_at = models.DateTimeField(_("started at"), null=True, blank=True)
    completed_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    cancelled_at = models.DateTimeField(_("cancelled at"), null=True, blank=True)
    failure_type = models.CharField(_("failure reason"), max_length=20, blank=True, db_default="")
    error_message = models.TextField(_("error"), blank=True, db_default="")
    # Ready, and passed by: its Task is limited, and no further run of it may start now.
    held = models.BooleanField(_("held"), default=False, db_default=False)
    # The run that counts now; earlier ones, from before a retry by hand, are found by their job.
    execution = models.ForeignKey(
        Execution,
        on_delete=models.DO_NOTHING,
        null=True,
        related_name="+",
        db_constraint=False,
        db_index=False,
        verbose_name=_("run"),
    )
    # Set once the job has ended: after a retry its joins have been counted and are released directly.
    ended_before = models.BooleanField(_("has ended before"), default=False, db_default=False)

    # The ids of the jobs that it depends on: no column, jobs/serialize.py reads them for many jobs at once.
    depends_on: Sequence[str] = ()

    class Meta:
        db_table = "job_queue"
        verbose_name = _("job")
        verbose_name_plural = _("jobs")
        indexes = [
            # dispatch: the next ready jobs of a role, in order.
            models.Index(
                F("office"),
                F("role"),
                F("held"),
                F("urgent").desc(),
                F("priority"),
                F("seq"),
                name="jobs_ready",
                condition=Q(status=JobStatus.READY),
            ),
            # dispatch: those that a limit of their Task holds.
            models.Index(
                F("office"),
                F("task_id"),
                F("urgent").desc(),
                F("priority"),
                F("seq"),
                name="jobs_held",
                condition=Q(status=JobStatus.READY, held=True),
            ),
            # dispatch: the slots in use.
            models.Index(
                fields=["office", "role"], name="jobs_processing", condition=Q(status=JobStatus.PROCESSING)
            ),
            # send_due: what has become due.
            models.Index(
                fields=["due_at"],
                name="jobs_due",
                condition=Q(status__in=JOB_WAITING, due_at__isnull=False),
            ),
            # fail_overdue: what has not started within its queue timeout.
            models.Index(
                fields=["queue_timeout_at"],
                name="jobs_queue_timeout",
                condition=Q(status__in=JOB_QUEUED, queue_timeout_at__isnull=False),
            ),
            # promote, and the count of what waits.
            models.Index(
                fields=["office", "status"], name="jobs_waiting", condition=Q(status__in=JOB_WAITING)
            ),
            # finish: does the batch have anything left to do?
            models.Index(
                fields=["batch"],
                name="jobs_live_of_batch",
                condition=Q(status__in=JOB_LIVE, batch__isnull=False),
            ),
            # the list of an office, by keyset and by page.
            models.Index(F("office"), F("seq").desc(), name="jobs_of_office"),
            # a batch's page.
            models.Index(fields=["batch", "seq"], name="jobs_of_batch", condition=Q(batch__isnull=False)),
            # statistics over a window, failures, retention.
            models.Index(
                fields=["office", "status", "completed_at"],
                name="jobs_ended",
                condition=Q(completed_at__isnull=False),
            ),
            # the list of runs: those that did not succeed, among very many that did.
            models.Index(
                fields=["id"],
                name="jobs_unsuccessful",
                condition=Q(status__in=(JobStatus.FAILED, JobStatus.CANCELLED)),
            ),
        ]
        constraints = [
            # A function of jobs/sql/engine.sql: the text of a check is parsed again for every write.
            models.CheckConstraint(
                name="job_is_whole",
                condition=RawSQL(
                    "dure_job_is_whole(status, completed_at, execution_id)",
                    (),
                    output_field=models.BooleanField(),
                ),
            ),
            models.UniqueConstraint(
                fields=["office", "unique_key"],
                name="one_live_job_per_unique_key",
                condition=Q(status__in=JOB_LIVE) & ~Q(unique_key=""),
            ),
        ]

    @property
    def claimed_at(self) -> datetime | None:
        """When it started. During a job's first run, only its Execution has that time."""
        if self.started_at is None and self.status == JobStatus.PROCESSING and self.execution is not None:
            return self.execution.started_at
        return self.started_at

    @property
    def is_claimed(self) -> bool:
        """Whether a worker has claimed its run."""
        return self.execution is not None and self.execution.status != ExecutionStatus.PENDING

    def __str__(self) -> str:
        return self.ref or str(self.id)


class Dependency(models.Model):
    """An edge: `job` waits for `parent`. `position` is its place among the job's dependencies."""

    pk = models.CompositePrimaryKey("job_id", "parent_id")
    # Submission has checked both ends. Looking up 100,000 of them again took a second at the COMMIT, with
    # the office's row locked.
    job = models.ForeignKey(
        Job,
        on_delete=models.CASCADE,
        related_name="edges_in",
        db_index=False,
        db_constraint=False,
        verbose_name=_("job"),
    )
    parent = models.ForeignKey(
        Job,
        on_delete=models.CASCADE,
        related_name="edges_out",
        db_constraint=False,
        verbose_name=_("depends on"),
    )
    position = models.IntegerField(_("place"))

    class Meta:
        db_table = "job_dependencies"
        verbose_name = _("dependency")
        verbose_name_plural = _("dependencies")
        constraints = [
            models.CheckConstraint(name="no_self_dependency", condition=~Q(job=F("parent"))),
        ]

    def __str__(self) -> str:
        return f"{self.job_id} after {self.parent_id}"
