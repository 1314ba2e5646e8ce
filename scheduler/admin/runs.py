"""Workflow runs and the log of their starts, without forms: actions change them by the verbs of the API."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from jobs.admin import columns, links
from jobs.admin.actions import Operator, RowAction
from jobs.admin.base import ReadOnlyAdmin
from jobs.admin.changelist import newest
from jobs.admin.filters import CREATED_SINCE, choice
from jobs.admin.links import Link, rows_of
from jobs.display import state_label
from jobs.models import Batch, Execution, Job
from scheduler.clock import database_now
from scheduler.display import state_choices
from scheduler.models import WorkflowRun, WorkflowRunStart
from scheduler.states import RUN_ENDED, RunStatus
from scheduler.workflows import runs

STATE = columns.state(_("state"))
STATES = dict(state_choices(RunStatus))
LIVE = (RunStatus.PENDING, RunStatus.RUNNING)


class StateFilter(choice("status", _("state"), STATES)):  # type: ignore[misc]
    """Live states have indexes of their own; the filter searches ended states among the newest rows."""

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        rows = super().queryset(request, queryset)
        return newest(rows) if self.value() in RUN_ENDED else rows


def resume(run: WorkflowRun, operator: Operator) -> None:
    runs.resume(run.pk, actor=operator.actor, now=database_now())


def cancel(run: WorkflowRun, operator: Operator) -> None:
    runs.cancel(run.pk, actor=operator.actor, reason=operator.reason, now=database_now())


@admin.register(WorkflowRun)
class WorkflowRunAdmin(ReadOnlyAdmin):
    list_display = (
        *(
            "scheduled_time",
            columns.link("workflow", _("workflow")),
            STATE,
            columns.link("batch", _("batch")),
        ),
        *("executed_at", "ended_at", "retry_count", "error_message"),
    )
    list_filter = (StateFilter, CREATED_SINCE)
    list_select_related = ("workflow", "batch")
    ids = ("workflow", "batch")
    fields = (
        *("id", "workflow", STATE, "batch", "started_by", "scheduled_time", "created_at", "executed_at"),
        *(
            "ended_at",
            "retry_count",
            "error_message",
            columns.json("workflow_data", _("definition at start")),
        ),
    )
    row_actions = (
        RowAction(
            "resume",
            _("Retry failed steps…"),
            lambda n: ngettext("Resume %d run", "Resume %d runs", n) % n,
            do=resume,
            refusal=lambda run: "" if run.is_resumable else state_label(run.status).name,
            note=_("Steps that succeeded are kept."),
        ),
        RowAction(
            "cancel",
            _("Cancel…"),
            lambda n: ngettext("Cancel %d run", "Cancel %d runs", n) % n,
            do=cancel,
            refusal=lambda run: "" if run.status == RunStatus.RUNNING else state_label(run.status).name,
            note=_("Cancels all jobs of the run that have not ended."),
        ),
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        runs = super().get_queryset(request).filter(workflow__deleted_at=None)
        return runs.select_related("workflow")

    def links(self, request: HttpRequest, row: WorkflowRun) -> list[Link]:
        if row.batch_id is None:
            return []
        page = reverse("pages:batch", args=[row.workflow.office_id, row.batch_id])
        return [Link(page, _("Graph")), rows_of(Job, _("Jobs"), batch=row.batch_id)]

    def panels(self, request: HttpRequest, row: WorkflowRun) -> list[SafeString]:
        starts = list(row.history.order_by("number"))
        return [render_to_string("admin/dure/starts.html", {"starts": starts})]


@admin.register(WorkflowRunStart)
class WorkflowRunStartAdmin(ReadOnlyAdmin):
    list_display = (
        "id",
        columns.link("run", _("run")),
        "number",
        STATE,
        "started_at",
        "ended_at",
        "error_message",
    )
    list_filter = (choice("status", _("state"), STATES, indexed=False),)
    list_select_related = ("run",)
    ids = ("run",)
    fields = ("run", "number", STATE, "started_at", "ended_at", "error_message")

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).filter(run__workflow__deleted_at=None)


def workflow_run_link(batch: Batch) -> Link | None:
    run = WorkflowRun.objects.filter(batch=batch, workflow__deleted_at=None).first()
    return Link(links.address(WorkflowRun, run.pk), _("Workflow run")) if run else None


def execution_page_link(run: Execution) -> Link:
    return Link(reverse("scheduler:execution", args=[run.pk]), _("View page"))


links.register_batch_link(workflow_run_link)
links.register_run_link(execution_page_link)
