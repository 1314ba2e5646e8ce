"""Runs and their attempts."""

from typing import Any
from uuid import UUID

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from jobs import display, lifecycle, texts
from jobs.admin import columns
from jobs.admin.actions import Operator, RowAction
from jobs.admin.base import ReadOnlyAdmin
from jobs.admin.changelist import newest
from jobs.admin.columns import FAILURE, STATE, fieldset
from jobs.admin.filters import CREATED_SINCE, FAILURE_TYPE, TRIGGER, RoleChoice, choice
from jobs.admin.links import NONE, Link, rows_of, run_links, source_of
from jobs.errors import Conflict
from jobs.flower import link_for
from jobs.models import Attempt, Execution, Job, Office
from jobs.pages.permissions import current_user
from jobs.states import EXECUTION_ENDED, TRIGGERS_OF_JOBS, ExecutionStatus
from jobs.templatetags import pages

OUTCOME = columns.column("outcome", _("outcome"), pages.outcome)


def cancel(run: Execution, operator: Operator) -> None:
    if run.trigger not in TRIGGERS_OF_JOBS:
        cancelled = lifecycle.cancel_execution(run.pk) is not None
    else:
        cancelled = _cancel_job(run.office_id, run.job_id, operator)
    if not cancelled:
        raise Conflict("already_ended")


def _cancel_job(office: UUID | None, job: UUID | None, operator: Operator) -> bool:
    """A run of a job is cancelled together with its job."""
    if office is None or job is None:
        return False
    return lifecycle.cancel(office, [job], actor=operator.actor, reason=operator.reason).total > 0


def not_cancellable(run: Execution) -> display.Text:
    if run.status in EXECUTION_ENDED:
        return display.state_label(run.status).name
    if (
        run.trigger in TRIGGERS_OF_JOBS
        and not Job.objects.filter(execution=run.pk, pk=str(run.job_id)).exists()
    ):
        return _("its job has a newer run")
    return ""


@columns.display(_("run"))
def name(run: Execution) -> str:
    return f"{run.task_id} {texts.short_id(run.pk)}"


@columns.display(_("triggered by"))
def origin(run: Execution) -> SafeString:
    link = source_of(run)
    return (
        format_html('<a href="{}">{}</a>', link.address, link.text)
        if link
        else SafeString(run.source or NONE)
    )


STATES = {status: display.state_label(status).name for status in ExecutionStatus}


class StateFilter(choice("status", _("state"), STATES)):  # type: ignore[misc]
    """Live states have indexes; the filter searches ended states among the newest runs."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        runs = super().queryset(request, queryset)
        return newest(runs) if self.value() in EXECUTION_ENDED else runs


class SourceFilter(admin.SimpleListFilter):
    """Runs of one source; shown only if a link led here with `?of=SCHEDULE:<id>`."""

    title = _("triggered by")
    parameter_name = "of"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(value, value)] if (value := request.GET.get(self.parameter_name)) else []

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        trigger, _colon, source = (self.value() or "").partition(":")
        # Written like the condition of the index by source.
        return queryset.exclude(source="").filter(trigger=trigger, source=source)


@admin.register(Execution)
class ExecutionAdmin(ReadOnlyAdmin):
    list_display = (
        *(name, STATE, "trigger", origin, columns.link("job", _("job")), "role", "worker", "created_at"),
        *("started_at", "finished_at", FAILURE, "attempt", "retry_count"),
    )
    list_filter = (
        SourceFilter,
        StateFilter,
        CREATED_SINCE,
        TRIGGER,
        RoleChoice,
        FAILURE_TYPE,
    )
    list_select_related = ("job",)
    ids = ("job",)
    beginnings = ("task_id", "worker")
    fieldsets = (
        fieldset(None, "id", "task_id", STATE, FAILURE, "error", columns.json("progress", _("progress"))),
        fieldset(_("Belongs to"), "trigger", origin, "job", columns.row_of(Office, "office_id", _("office"))),
        fieldset(
            _("Worker and lease"),
            *("role", "worker", "session_id", "locked_until", "fence", "dispatch", "sent_count"),
            *("attempt", "crash_count"),
        ),
        fieldset(
            _("Times"),
            *("created_at", "scheduled_for", "dispatched_at", "sent_at", "started_at"),
            *("attempt_started_at", "timeout_at", "due_at", "cancel_requested_at", "finished_at"),
        ),
        fieldset(
            _("Retries and limits"),
            columns.milliseconds("timeout_ms", _("time limit")),
            *("retry_count", "max_retries", "retry_backoff"),
            *(columns.milliseconds("retry_base_delay_ms", _("initial retry delay")), "on_lost"),
        ),
        fieldset(
            _("Arguments and result"),
            *(columns.json("args", _("arguments")), columns.json("result", _("result"))),
        ),
    )
    row_actions = (
        RowAction(
            "cancel",
            _("Cancel…"),
            lambda n: ngettext("Cancel %d run", "Cancel %d runs", n) % n,
            do=cancel,
            refusal=not_cancellable,
            note=_("A run of a job is cancelled together with its job."),
        ),
    )

    def links(self, request: HttpRequest, row: Execution) -> list[Link]:
        links = run_links(row)
        if row.job_id and row.office_id:
            links.append(Link(reverse("pages:job", args=[row.office_id, row.job_id]), _("View job page")))
        links.append(rows_of(Attempt, _("Attempts"), execution=row.pk))
        if flower := link_for(current_user(request), row):
            links.append(Link(flower, "Flower"))
        return links

    def panels(self, request: HttpRequest, row: Execution) -> list[SafeString]:
        return [columns.timeline_of(row, timezone.now())]


@admin.register(Attempt)
class AttemptAdmin(ReadOnlyAdmin):
    list_display = (
        *("id", columns.link("execution", _("run")), "number", "started_at", "ended_at"),
        *(OUTCOME, FAILURE, "worker"),
    )
    list_filter = (
        choice(
            "outcome",
            _("outcome"),
            {outcome: label.name for outcome, label in display.OUTCOME_LABELS.items()},
            indexed=False,
        ),
    )
    list_select_related = ("execution",)
    ids = ("execution",)
    beginnings = ("worker",)
    fields = (
        *("execution", "number", "started_at", "ended_at"),
        *(OUTCOME, FAILURE, "error", "traceback", "worker"),
    )
