"""Jobs and batches; actions on jobs use jobs/bulk.py."""

from collections.abc import Mapping
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from jobs import bulk, display
from jobs.admin import columns
from jobs.admin.actions import NAMED, Preview, RowAction, add_result_message, go_back
from jobs.admin.base import ReadOnlyAdmin
from jobs.admin.changelist import Order
from jobs.admin.columns import FAILURE, OFFICE, STATE, fieldset
from jobs.admin.filters import CREATED_SINCE, FAILURE_TYPE, TRIGGER, RoleChoice, choice
from jobs.admin.links import Link, batch_links, rows_of
from jobs.flower import link_for
from jobs.models import Batch, Execution, Job
from jobs.pages.forms import ActionForm
from jobs.pages.permissions import actor_of, current_user
from jobs.queries import children_of, events_of, parents_of, runs_of
from jobs.selection import in_states
from jobs.states import JOB_LIVE, JobStatus

# So many of the jobs that an action fits, and of those that it skips, are counted.
MOST_COUNTED = bulk.MOST + 1


def preview_of(jobs: QuerySet[Job], verb: str) -> Preview:
    """Count the matching jobs, since an action applies to all of them."""
    counts = bulk.preview(jobs, verb, counted=MOST_COUNTED)
    capped = counts.skipped >= MOST_COUNTED
    skipped = {
        str(display.state_label(status).name): f"≥ {number:,}" if capped else f"{number:,}"
        for status, number in counts.skipped_by_state.items()
    }
    beyond = _("At most %(count)s are changed at a time; repeat the action for the others.") % {
        "count": f"{bulk.MOST:,}"
    }
    return Preview(
        list(bulk.fitting_jobs(jobs, verb)[:NAMED]), counts.changed, skipped, beyond if counts.beyond else ""
    )


def job_action(verb: str, label: display.Text, question: Any) -> RowAction:
    def refusal(job: Job) -> display.Text:
        return "" if job.status in bulk.APPLIES_TO[verb] else display.state_label(job.status).name

    # JobAdmin.confirm applies it to all that match at once.
    return RowAction(verb, label, question, do=lambda row, operator: None, refusal=refusal)


@admin.register(Job)
class JobAdmin(ReadOnlyAdmin):
    list_display = (
        *("__str__", STATE, "task_id", "role", OFFICE, columns.link("batch", _("batch")), "created_at"),
        *("completed_at", FAILURE, "priority", "urgent", "retry_count"),
    )
    list_filter = (
        choice(
            "state",
            _("state"),
            {status: display.state_label(status).name for status in JobStatus},
            lambda status: in_states([status]),
        ),
        CREATED_SINCE,
        RoleChoice,
        FAILURE_TYPE,
        TRIGGER,
    )
    list_select_related = ("office", "batch")
    ids = ("batch", "office")
    beginnings = ("ref", "task_id", "unique_key")
    orders = {"office": "seq", "batch": "seq"}
    fieldsets = (
        fieldset(None, "id", "ref", "task_id", STATE, FAILURE, "error_message"),
        fieldset(_("Belongs to"), "office", "batch", "execution", "trigger", "unique_key"),
        fieldset(_("Order"), *("role", "priority", "urgent", "dependency_count", "on_dependency_failure")),
        fieldset(
            _("Times"),
            *("created_at", "run_at", "ready_at", "started_at", "completed_at", "cancelled_at"),
            *("retry_at", "due_at"),
        ),
        fieldset(
            _("Retries and limits"),
            columns.milliseconds("timeout_ms", _("time limit")),
            columns.milliseconds("queue_timeout_ms", _("queue timeout")),
            *("queue_timeout_at", "retry_count", "max_retries", "retry_backoff"),
            *(columns.milliseconds("retry_base_delay_ms", _("initial retry delay")), "on_lost"),
        ),
        fieldset(_("Arguments"), columns.json("args", _("arguments"))),
    )
    row_actions = (
        job_action("cancel", _("Cancel…"), lambda n: ngettext("Cancel %d job", "Cancel %d jobs", n) % n),
        job_action("retry", _("Retry…"), lambda n: ngettext("Retry %d job", "Retry %d jobs", n) % n),
        job_action(
            "reprioritise",
            _("Change priority…"),
            lambda n: ngettext("Change the priority of %d job", "Change the priority of %d jobs", n) % n,
        ),
    )

    def order_within(self, params: Mapping[str, Any]) -> Order:
        # Jobs that have not ended are few, and their indexes have another order.
        if params.get("state") in JOB_LIVE:
            return Order("seq", few=True)
        return super().order_within(params)

    def links(self, request: HttpRequest, row: Job) -> list[Link]:
        links = [Link(reverse("pages:job", args=[row.office_id, row.pk]), _("View page"))]
        if row.batch_id:
            links.append(Link(reverse("pages:batch", args=[row.office_id, row.batch_id]), _("Graph")))
        links.append(rows_of(Execution, _("Runs"), job=row.pk))
        if row.execution and (flower := link_for(current_user(request), row.execution)):
            links.append(Link(flower, "Flower"))
        return links

    def panels(self, request: HttpRequest, row: Job) -> list[SafeString]:
        sides = [parents_of(row), children_of(row)]
        drawn = [columns.timeline(runs_of(row, timezone.now()))]
        if any(sides):
            drawn.append(render_to_string("admin/dure/neighbours.html", {"sides": sides}))
        return [*drawn, render_to_string("admin/dure/events.html", {"events": events_of(row)})]

    def confirm(
        self, request: HttpRequest, rows: QuerySet[Job], action: RowAction
    ) -> HttpResponseBase | None:
        form = ActionForm(request.POST if "sure" in request.POST else None, verb=action.name)
        if not form.is_valid():
            return self.confirmation(request, action, preview_of(rows, action.name), form)
        result = bulk.apply(rows, form.action(actor_of(request)))
        add_result_message(request, result.changed)
        return go_back(request)


@admin.register(Batch)
class BatchAdmin(ReadOnlyAdmin):
    list_display = ("__str__", OFFICE, "created_at", "ended_at")
    list_filter = (
        CREATED_SINCE,
        choice(
            "ended",
            _("ended"),
            {"1": _("yes"), "0": _("no")},
            lambda value: Q(ended_at__isnull=value == "0"),
            indexed=False,
        ),
    )
    list_select_related = ("office",)
    ids = ("office",)
    beginnings = ("name",)
    fields = ("id", "name", "office", "created_at", "ended_at")

    def links(self, request: HttpRequest, row: Batch) -> list[Link]:
        page = Link(reverse("pages:batch", args=[row.office_id, row.pk]), _("Graph"))
        return [page, rows_of(Job, _("Jobs"), batch=row.pk), *batch_links(row)]
