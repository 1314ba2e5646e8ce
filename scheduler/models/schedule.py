"""Schedules and their occurrences."""

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from jobs.ids import uuid7
from jobs.models import Office
from jobs.models.deletion import ExistingRows
from jobs.states import Backoff, OnLost, Trigger
from scheduler.models.calendar import Calendar
from scheduler.schedules.catchup import DEFAULT_GRACE_SECONDS, CatchUp
from scheduler.schedules.rules import TIMING, Kind, Rule
from scheduler.schedules.timezones import KOREAN_TIME
from scheduler.states import OccurrenceOutcome, Overlap

OCCURRENCE_TRIGGERS = [(each.value, each.label) for each in (Trigger.SCHEDULE, Trigger.MANUAL)]


class Schedule(models.Model):
    """A time rule that starts Executions of a Task; schedules/lifecycle.py changes it."""

    id = models.UUIDField(_("ID"), primary_key=True, default=uuid7, editable=False)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="schedules",
        null=True,
        blank=True,
        verbose_name=_("owner"),
    )
    name = models.CharField(_("name"), max_length=200)
    task_id = models.CharField(_("Task"), max_length=200)
    args = models.JSONField(_("arguments"), default=dict, blank=True)
    enabled = models.BooleanField(_("enabled"), default=True)

    kind = models.CharField(
        _("schedule type"), max_length=8, choices=[(kind.value, kind.value) for kind in Kind]
    )
    cron = models.CharField(_("cron expression"), max_length=128, blank=True)
    every_seconds = models.BigIntegerField(_("repeat every (seconds)"), null=True, blank=True)
    at = models.DateTimeField(_("run once at"), null=True, blank=True)
    timezone = models.CharField(_("time zone"), max_length=64, default=KOREAN_TIME)
    starts_at = models.DateTimeField(_("starts on"), null=True, blank=True)
    ends_at = models.DateTimeField(_("ends on"), null=True, blank=True)
    # Intervals are counted from here; set together with the rule.
    anchor = models.DateTimeField(_("counted from"), editable=False)

    overlap = models.CharField(
        _("if the previous run is still running"), max_length=8, choices=Overlap.choices, default=Overlap.SKIP
    )
    catch_up = models.CharField(
        _("if runs were missed"),
        max_length=8,
        choices=[(policy.value, policy.value) for policy in CatchUp],
        default=CatchUp.LATEST.value,
    )
    # How late a scheduled run may start with the catch-up policy "none".
    grace = models.PositiveIntegerField(
        _("grace period (s)"), default=DEFAULT_GRACE_SECONDS, db_default=DEFAULT_GRACE_SECONDS
    )
    calendar = models.ForeignKey(
        Calendar,
        on_delete=models.RESTRICT,
        related_name="schedules",
        null=True,
        blank=True,
        verbose_name=_("calendar"),
    )
    max_retries = models.PositiveIntegerField(_("max retries"), default=3)
    # Empty: as the Task declares.
    retry_backoff = models.CharField(
        _("backoff"), max_length=12, choices=Backoff.choices, blank=True, default="", db_default=""
    )
    retry_base_delay = models.BigIntegerField(_("initial retry delay (ms)"), null=True, blank=True)
    timeout_ms = models.BigIntegerField(_("time limit (ms)"), null=True, blank=True)
    on_lost = models.CharField(
        _("on lost worker"),
        max_length=8,
        choices=OnLost.choices,
        blank=True,
        default="",
        db_default="",
    )

    # Empty: no notification. schedules/failing.py sends them.
    notify_after_failures = models.PositiveIntegerField(
        _("notify after so many failed runs in a row"), null=True, blank=True
    )
    notify_after_missed = models.PositiveIntegerField(
        _("notify after so many missed runs in a row"), null=True, blank=True
    )
    # Its webhooks and mail addresses are notified too.
    notify_office = models.ForeignKey(
        Office,
        on_delete=models.SET_NULL,
        related_name="+",
        null=True,
        blank=True,
        verbose_name=_("notify the office"),
    )
    # Since the last run that succeeded. Counted only if they lead to a notification.
    consecutive_failures = models.PositiveIntegerField(
        _("failed runs in a row"), default=0, db_default=0, editable=False
    )
    consecutive_missed = models.PositiveIntegerField(
        _("missed runs in a row"), default=0, db_default=0, editable=False
    )
    # When the notification was sent; null again after a run that succeeded.
    failing_since = models.DateTimeField(_("failing since"), null=True, blank=True, editable=False)

    # Null when nothing is due: the schedule is paused, has ended, or has fired its single time.
    next_run_at = models.DateTimeField(_("next run at"), null=True, blank=True, editable=False)
    last_run_at = models.DateTimeField(_("last scheduled run at"), null=True, blank=True, editable=False)
    # Not a foreign key: retention deletes Executions independently of schedules.
    last_execution_id = models.UUIDField(_("last run"), null=True, blank=True, editable=False)
    created_at = models.DateTimeField(_("created at"), editable=False)
    updated_at = models.DateTimeField(_("updated at"), editable=False)
    # A deleted schedule never fires. Retention deletes the row after the last of its Executions.
    deleted_at = models.DateTimeField(_("deleted at"), null=True, blank=True, editable=False)

    objects = ExistingRows["Schedule"]()
    with_deleted = models.Manager["Schedule"]()

    class Meta:
        db_table = "schedules"
        verbose_name = _("schedule")
        verbose_name_plural = _("schedules")
        ordering = ["name", "id"]
        indexes = [
            # fire_due and NEXT_DUE.
            models.Index(
                fields=["next_run_at"], name="schedules_due", condition=Q(next_run_at__isnull=False)
            ),
            # the list of an owner's schedules.
            models.Index(fields=["owner", "name"], name="schedules_of_owner"),
            # the alerts of a user.
            models.Index(
                fields=["owner", "failing_since"],
                name="schedules_failing",
                condition=Q(failing_since__isnull=False),
            ),
            # retention.
            models.Index(
                fields=["deleted_at"], name="schedules_deleted", condition=Q(deleted_at__isnull=False)
            ),
        ]
        constraints = [
            models.CheckConstraint(
                name="schedule_has_the_rule_of_its_kind",
                condition=Q(kind=Kind.CRON.value, every_seconds__isnull=True, at__isnull=True) & ~Q(cron="")
                | Q(kind=Kind.INTERVAL.value, every_seconds__gte=1, at__isnull=True, cron="")
                | Q(kind=Kind.ONCE.value, every_seconds__isnull=True, at__isnull=False, cron=""),
            ),
            models.CheckConstraint(
                name="schedule_paused_is_never_due",
                condition=Q(enabled=True) | Q(next_run_at__isnull=True),
            ),
            models.CheckConstraint(
                name="schedule_deleted_is_paused",
                condition=Q(deleted_at__isnull=True) | Q(enabled=False, calendar__isnull=True),
            ),
            models.CheckConstraint(name="schedule_overlap_known", condition=Q(overlap__in=Overlap.values)),
            models.CheckConstraint(
                name="schedule_catch_up_known", condition=Q(catch_up__in=[policy.value for policy in CatchUp])
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def rule(self) -> Rule:
        return Rule.read({name: getattr(self, name) for name in TIMING}, self.anchor)


class Occurrence(models.Model):
    """One due time of one schedule, or one run of it by hand.

    The unique pair of schedule and time lets any number of beats decide each due time exactly once.
    """

    schedule = models.ForeignKey(
        Schedule,
        on_delete=models.CASCADE,
        related_name="occurrences",
        db_index=False,
        verbose_name=_("schedule"),
    )
    due_at = models.DateTimeField(_("due at"))
    outcome = models.CharField(_("outcome"), max_length=8, choices=OccurrenceOutcome.choices)
    reason = models.CharField(_("reason"), max_length=200, blank=True)
    execution_id = models.UUIDField(_("run"), null=True, blank=True)
    trigger = models.CharField(
        _("trigger"),
        max_length=10,
        choices=OCCURRENCE_TRIGGERS,
        default=Trigger.SCHEDULE.value,
        db_default=Trigger.SCHEDULE.value,
    )
    decided_at = models.DateTimeField(_("decided at"))

    class Meta:
        db_table = "schedule_occurrences"
        verbose_name = _("scheduled run")
        verbose_name_plural = _("scheduled runs")
        indexes = [
            # retention.
            models.Index(fields=["decided_at"], name="occurrences_by_age"),
            # the runs of a schedule by hand.
            models.Index(
                fields=["schedule", "due_at"],
                name="occurrences_by_hand",
                condition=Q(trigger=Trigger.MANUAL.value),
            ),
            # the schedules of runs by hand.
            models.Index(
                fields=["execution_id"],
                name="occurrences_of_manual_runs",
                condition=Q(trigger=Trigger.MANUAL.value),
            ),
        ]
        constraints = [
            # Also read newest first by the schedule's page.
            models.UniqueConstraint(fields=["schedule", "due_at"], name="one_occurrence_per_due_time"),
            models.CheckConstraint(
                name="occurrence_run_iff_execution",
                condition=Q(outcome=OccurrenceOutcome.RUN, execution_id__isnull=False)
                | (~Q(outcome=OccurrenceOutcome.RUN) & Q(execution_id__isnull=True)),
            ),
            models.CheckConstraint(
                name="occurrence_outcome_known", condition=Q(outcome__in=OccurrenceOutcome.values)
            ),
        ]
        ordering = [F("due_at").desc()]

    def __str__(self) -> str:
        return f"{self.outcome} at {self.due_at}"
