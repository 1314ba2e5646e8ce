"""Workflows, their runs, and the log of every start of a run."""

from typing import Any

from django.conf import settings
from django.contrib.postgres.functions import RandomUUID
from django.db import models
from django.db.models import F, Q, Value
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _

from jobs.errors import ErrorText
from jobs.ids import uuid7
from jobs.models import Batch, Office
from jobs.models.deletion import ExistingRows
from scheduler.states import RUN_ENDED, RUN_RESUMABLE, RunStatus, WorkflowStatus


class Workflow(models.Model):
    """A saved template of steps with a schedule. The lock on its row serialises changes of its next run."""

    id = models.UUIDField(_("ID"), primary_key=True, default=uuid7, editable=False)
    office = models.ForeignKey(
        Office, on_delete=models.CASCADE, related_name="workflows", verbose_name=_("office")
    )
    name = models.CharField(_("name"), max_length=200)
    status = models.CharField(
        _("status"), max_length=8, choices=WorkflowStatus.choices, default=WorkflowStatus.DRAFT
    )
    steps = models.JSONField(_("steps"), default=list)
    schedule_config = models.JSONField(_("schedule settings"))
    # Grows with each change of the steps, the schedule or the input schema; a run records which one it ran.
    version = models.PositiveIntegerField(_("version"), default=1, db_default=1, editable=False)
    # How often a failed run is tried again from its failed steps, by itself or by hand.
    max_run_retries = models.PositiveIntegerField(_("max run retries"), default=0, db_default=0)
    # The JSON Schema of a run's input; null accepts any.
    input_schema = models.JSONField(_("input schema"), null=True, blank=True)
    # When the workflow became active with this schedule_config: immediate and delayed count from here.
    activated_at = models.DateTimeField(_("activated at"), null=True, blank=True, editable=False)
    # The last scheduled time that was started since then.
    last_occurrence = models.DateTimeField(_("last scheduled run at"), null=True, blank=True, editable=False)
    created_at = models.DateTimeField(_("created at"), editable=False)
    updated_at = models.DateTimeField(_("updated at"), editable=False)
    # A deleted workflow has no pending run. Its other runs stay as they are: nothing shows, ends or retries
    # them. Retention deletes it with them when nobody can undo the deletion any more.
    deleted_at = models.DateTimeField(_("deleted at"), null=True, blank=True, editable=False)

    objects = ExistingRows["Workflow"]()
    with_deleted = models.Manager["Workflow"]()

    class Meta:
        db_table = "workflows"
        verbose_name = _("workflow")
        verbose_name_plural = _("workflows")
        ordering = ["name", "id"]
        indexes = [
            # schedule_all.
            models.Index(fields=["id"], name="workflows_active", condition=Q(status=WorkflowStatus.ACTIVE)),
            # retention.
            models.Index(
                fields=["deleted_at"], name="workflows_deleted", condition=Q(deleted_at__isnull=False)
            ),
        ]
        constraints = [
            models.CheckConstraint(
                name="workflow_status_known", condition=Q(status__in=WorkflowStatus.values)
            ),
            models.CheckConstraint(
                name="workflow_active_has_a_beginning",
                condition=~Q(status=WorkflowStatus.ACTIVE) | Q(activated_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_active(self) -> bool:
        return self.status == WorkflowStatus.ACTIVE


class ReadableError:
    """The error of a run, or of one of its starts, for readers of any language."""

    error_message: Any
    # Its code and parameters; null if it has no code.
    error_text: Any

    @property
    def error(self) -> str:
        """The error in the language of the reader, as far as it has a code."""
        text = self.error_text
        return str(ErrorText(text["code"], **text["params"])) if text else str(self.error_message)


class WorkflowRun(ReadableError, models.Model):
    """One run of a workflow: pending until its scheduled time, then a batch of jobs.

    The database has defaults too, so that a plain INSERT of a workflow and a time is a pending run.
    """

    id = models.UUIDField(_("ID"), primary_key=True, default=uuid7, db_default=RandomUUID(), editable=False)
    workflow = models.ForeignKey(
        Workflow, on_delete=models.CASCADE, related_name="runs", db_index=False, verbose_name=_("workflow")
    )
    # The workflow's name, steps and schedule when the run started.
    workflow_data = models.JSONField(
        _("definition at start"), default=dict, db_default=Value({}, models.JSONField())
    )
    input = models.JSONField(_("input"), null=True, blank=True)
    scheduled_time = models.DateTimeField(_("scheduled for"))
    status = models.CharField(
        _("status"),
        max_length=10,
        choices=RunStatus.choices,
        default=RunStatus.PENDING.value,
        db_default=RunStatus.PENDING.value,
    )
    created_at = models.DateTimeField(_("created at"), db_default=Now())
    updated_at = models.DateTimeField(_("updated at"), db_default=Now())
    executed_at = models.DateTimeField(_("started at"), null=True, blank=True)
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    # Set while a cancelled run waits for the end of its steps; such a run is not retried by itself.
    cancel_requested_at = models.DateTimeField(_("cancellation requested at"), null=True, blank=True)
    retry_count = models.PositiveIntegerField(_("retries"), default=0, db_default=0)
    error_message = models.TextField(_("error"), blank=True, db_default="")
    error_text = models.JSONField(null=True, editable=False)
    # No constraint: the engine's retention deletes batches independently of workflow runs.
    batch = models.ForeignKey(
        Batch,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        db_constraint=False,
        verbose_name=_("batch"),
    )
    started_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("started by"),
    )

    class Meta:
        db_table = "scheduled_jobs"
        verbose_name = _("workflow run")
        verbose_name_plural = _("workflow runs")
        indexes = [
            # run_due, upcoming and late runs.
            models.Index(
                fields=["scheduled_time"], name="runs_pending", condition=Q(status=RunStatus.PENDING)
            ),
            # settle_runs.
            models.Index(fields=["updated_at"], name="runs_running", condition=Q(status=RunStatus.RUNNING)),
            # a workflow's runs, newest first.
            models.Index(F("workflow"), F("scheduled_time").desc(), name="runs_of_workflow"),
            # the overview's counts, retention.
            models.Index(fields=["ended_at"], name="runs_ended", condition=Q(ended_at__isnull=False)),
            # the overview's recent failures.
            models.Index(F("ended_at").desc(), name="runs_failed", condition=Q(status=RunStatus.FAILED)),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["workflow"],
                name="one_pending_run_per_workflow",
                condition=Q(status=RunStatus.PENDING),
            ),
            models.CheckConstraint(name="run_status_known", condition=Q(status__in=RunStatus.values)),
            models.CheckConstraint(
                name="run_ended_iff_ended_at",
                condition=Q(status__in=RUN_ENDED, ended_at__isnull=False)
                | (~Q(status__in=RUN_ENDED) & Q(ended_at__isnull=True)),
            ),
            models.CheckConstraint(
                name="run_pending_iff_not_executed",
                condition=Q(status=RunStatus.PENDING, executed_at__isnull=True)
                | (~Q(status=RunStatus.PENDING) & Q(executed_at__isnull=False)),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.status} at {self.scheduled_time}"

    @property
    def is_resumable(self) -> bool:
        return self.status in RUN_RESUMABLE

    @property
    def is_cancellable(self) -> bool:
        return self.status == RunStatus.RUNNING and self.cancel_requested_at is None


class WorkflowRunStart(ReadableError, models.Model):
    """One start of a workflow run, the first or a resumed one, and how it ended."""

    run = models.ForeignKey(
        WorkflowRun, on_delete=models.CASCADE, related_name="history", db_index=False, verbose_name=_("run")
    )
    number = models.PositiveIntegerField(_("no."))
    started_at = models.DateTimeField(_("started at"))
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    status = models.CharField(
        _("status"), max_length=10, choices=RunStatus.choices, default=RunStatus.RUNNING
    )
    error_message = models.TextField(_("error"), blank=True)
    error_text = models.JSONField(null=True, editable=False)

    class Meta:
        db_table = "workflow_run_history"
        verbose_name = _("workflow run start")
        verbose_name_plural = _("workflow run starts")
        ordering = ["run", "number"]
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="one_start_per_number")]

    def __str__(self) -> str:
        return f"start {self.number} of {self.run_id}: {self.status}"
