"""Step queues, their jobs and their events. The verbs in queues.py and lifecycle.py write them."""

from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from jobs.ids import uuid7
from jobs.models import Office
from scheduler.steps.states import (
    EMPTY_ARGS,
    EXPIRED_TIME,
    MAX_UNDO_RETRIES,
    NO_OPERATION,
    QUEUE_NOT_RUNNING,
    UNINIT,
    UNLINK,
    Direction,
    JobState,
    QueueState,
    StepEventType,
    rollback_failed,
)

# The length of a job's id, or of the constant for no job.
LINK = 40


def uninit() -> str:
    return UNINIT


def empty_args() -> str:
    return EMPTY_ARGS


class AnyJSONField(models.JSONField):
    """JSON in which null is a value, and not the absence of one."""

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        return self.get_db_prep_value(value, connection)


class StepQueue(models.Model):
    """The specification's QueueManager. Its row lock orders all changes of the queue."""

    queue_id = models.BigAutoField(_("no."), primary_key=True)
    job_number = models.PositiveIntegerField(_("jobs"), default=0)
    operation_direction = models.CharField(
        _("direction"), max_length=8, choices=Direction.choices, default=Direction.FORWARD
    )
    queue_library = models.CharField(_("library"), max_length=100, default=UNINIT)
    state = models.CharField(_("state"), max_length=8, choices=QueueState.choices, default=QueueState.EMPTY)
    queue_return = models.JSONField(_("return message"), default=uninit)
    job_queue = models.CharField(_("first job"), max_length=LINK, default=UNINIT)
    running_job = models.CharField(_("running job"), max_length=LINK, default=QUEUE_NOT_RUNNING)
    last_job = models.CharField(_("last job"), max_length=LINK, default=UNINIT)
    context = models.JSONField(_("context"), default=dict)

    # The fields from here on are not part of the specification.
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="step_queues",
        db_index=False,
        verbose_name=_("owner"),
    )
    office = models.ForeignKey(
        Office,
        on_delete=models.CASCADE,
        related_name="step_queues",
        null=True,
        blank=True,
        db_index=False,
        verbose_name=_("office"),
    )
    name = models.CharField(_("name"), max_length=200, blank=True)
    callback_url = models.CharField(_("callback"), max_length=2000, blank=True)
    callback_secret = models.CharField(_("callback secret"), max_length=100, blank=True, editable=False)
    # The Execution that copied the queue to run it: see run_queue.py.
    started_by = models.UUIDField(_("run by"), null=True, blank=True, unique=True, editable=False)
    # The number of runs.
    run = models.PositiveIntegerField(_("run count"), default=0)
    # The Execution of the current operation: the only one whose end moves the queue.
    execution_id = models.UUIDField(_("run"), null=True, blank=True)
    # One backward operation was rerun by hand; the run ends after it.
    again = models.BooleanField(_("rollback retried"), default=False)
    cancel_requested_at = models.DateTimeField(_("rollback requested at"), null=True, blank=True)
    started_at = models.DateTimeField(_("started at"), null=True, blank=True)
    ended_at = models.DateTimeField(_("ended at"), null=True, blank=True)
    created_at = models.DateTimeField(_("created at"))
    # Until then each change is published: see pubsub.py.
    watched_until = models.DateTimeField(_("watched until"), null=True, blank=True, editable=False)

    class Meta:
        db_table = "step_queues"
        verbose_name = _("step queue")
        verbose_name_plural = _("step queues")
        ordering = ["-queue_id"]
        indexes = [
            # the lists of an owner and of an office.
            models.Index(F("owner"), F("queue_id").desc(), name="step_queues_of_owner"),
            models.Index(
                F("office"),
                F("queue_id").desc(),
                name="step_queues_of_office",
                condition=Q(office__isnull=False),
            ),
            # retention.
            models.Index(
                fields=["ended_at"], name="step_queues_of_runs", condition=Q(started_by__isnull=False)
            ),
            # the metrics.
            models.Index(fields=["state"], name="step_queues_running", condition=Q(state=QueueState.RUNNING)),
        ]
        constraints = [
            models.CheckConstraint(name="step_queue_state_known", condition=Q(state__in=QueueState.values)),
            models.CheckConstraint(
                name="step_queue_direction_known", condition=Q(operation_direction__in=Direction.values)
            ),
            models.CheckConstraint(
                name="step_queue_running_iff_operating",
                condition=(
                    Q(state=QueueState.RUNNING, execution_id__isnull=False)
                    & ~Q(running_job=QUEUE_NOT_RUNNING)
                )
                | (
                    ~Q(state=QueueState.RUNNING)
                    & Q(execution_id__isnull=True, running_job=QUEUE_NOT_RUNNING, again=False)
                ),
            ),
            models.CheckConstraint(
                name="step_queue_empty_iff_without_jobs",
                condition=Q(state=QueueState.EMPTY, job_number=0, job_queue=UNINIT, last_job=UNINIT)
                | (
                    ~Q(state=QueueState.EMPTY)
                    & Q(job_number__gt=0)
                    & ~Q(job_queue=UNINIT)
                    & ~Q(last_job=UNINIT)
                ),
            ),
        ]

    def __str__(self) -> str:
        return self.name or f"queue {self.queue_id}"

    @property
    def is_cancellable(self) -> bool:
        """Whether it goes forward, and no rollback was requested."""
        forward = self.state == QueueState.RUNNING and self.operation_direction == Direction.FORWARD
        return forward and self.cancel_requested_at is None


class Step(models.Model):
    """The specification's Job: a forward and a backward operation, with links to its neighbours.

    It belongs to the user who made it until it is enqueued, then to the queue.
    """

    job_id = models.UUIDField(_("ID"), primary_key=True, default=uuid7, editable=False)
    forward_operation = models.CharField(_("forward operation"), max_length=100, default=NO_OPERATION)
    backward_operation = models.CharField(_("backward operation"), max_length=100, default=NO_OPERATION)
    arguments = AnyJSONField(_("arguments"), default=empty_args)
    operation_library = models.CharField(_("library"), max_length=100, default=UNINIT)
    expired_time = models.FloatField(_("time limit (s)"), default=EXPIRED_TIME)
    job_return = models.JSONField(_("returns"), default=uninit)
    next_job = models.CharField(_("next job"), max_length=LINK, default=UNLINK)
    prev_job = models.CharField(_("previous job"), max_length=LINK, default=UNLINK)
    state = models.TextField(_("state"), default=JobState.NOTYET.value)

    # Not part of the specification. The number repeats the links, so that the database can sort by it.
    queue = models.ForeignKey(
        StepQueue,
        on_delete=models.CASCADE,
        related_name="steps",
        null=True,
        blank=True,
        db_index=False,
        verbose_name=_("step queue"),
    )
    number = models.PositiveIntegerField(_("no."), null=True, blank=True)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="+",
        null=True,
        blank=True,
        db_index=False,
        verbose_name=_("owner"),
    )
    # None: as often as the backward operation says, or else the installation.
    undo_retries = models.PositiveSmallIntegerField(_("retries of the rollback"), null=True, blank=True)

    class Meta:
        db_table = "steps"
        verbose_name = _("step")
        verbose_name_plural = _("steps")
        ordering = ["queue", "number"]
        indexes = [
            # the metrics and the list's filter: failed rollbacks.
            models.Index(fields=["queue"], name="steps_undo_failed", condition=Q(state__endswith=", FAILED")),
            # the list of a user's jobs that are in no queue.
            models.Index(fields=["owner", "job_id"], name="steps_of_owner", condition=Q(owner__isnull=False)),
        ]
        constraints = [
            # Also read in order, by the runner and by the lists.
            # Deferrable, so that it is checked at the end of the statement that moves jobs.
            models.UniqueConstraint(
                fields=["queue", "number"], name="one_step_per_number", deferrable=models.Deferrable.IMMEDIATE
            ),
            models.CheckConstraint(name="step_expired_time_positive", condition=Q(expired_time__gt=0)),
            models.CheckConstraint(
                name="step_linked_iff_in_queue",
                condition=(
                    Q(queue__isnull=False, number__isnull=False, owner__isnull=True)
                    & ~Q(prev_job=UNLINK)
                    & ~Q(next_job=UNLINK)
                )
                | Q(
                    queue__isnull=True,
                    number__isnull=True,
                    owner__isnull=False,
                    prev_job=UNLINK,
                    next_job=UNLINK,
                ),
            ),
            models.CheckConstraint(
                name="step_undo_retries_limited",
                condition=Q(undo_retries__isnull=True) | Q(undo_retries__lte=MAX_UNDO_RETRIES),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.number or UNLINK}: {self.forward_operation}"

    @property
    def position(self) -> int:
        """The number of a job that is in a queue."""
        return self.number or 0

    @property
    def has_failed_rollback(self) -> bool:
        """Whether its backward operation failed the last time, and may be run again by hand."""
        return rollback_failed(self.state) and self.backward_operation != NO_OPERATION


class StepEvent(models.Model):
    """Ids grow in the order of a queue's commits, since its row is locked: `?after=` misses no event."""

    queue = models.ForeignKey(
        StepQueue,
        on_delete=models.CASCADE,
        related_name="events",
        db_index=False,
        verbose_name=_("step queue"),
    )
    run = models.PositiveIntegerField(_("run number"))
    type = models.CharField(_("event"), max_length=24, choices=StepEventType.choices)
    details = models.JSONField(_("details"), default=dict)
    at = models.DateTimeField(_("time"))

    class Meta:
        db_table = "step_events"
        verbose_name = _("event of a step queue")
        verbose_name_plural = _("events of step queues")
        indexes = [
            # the resumable list, the socket, and waiting for a run's end.
            models.Index(fields=["queue", "id"], name="step_events_of_queue"),
        ]

    def __str__(self) -> str:
        return f"{self.id} {self.type}"
