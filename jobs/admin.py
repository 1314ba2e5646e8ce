"""Offices, jobs and their runs for operators: looked at here, and changed by the same verbs as everywhere.

Lists stay quick with millions of rows: the newest ids first, rough counts, and searches by id only.
"""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin import helpers
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from jobs import lifecycle
from jobs.look_only import LookOnly
from jobs.models import (
    ApiToken,
    Attempt,
    Batch,
    Event,
    Execution,
    Job,
    Membership,
    Notice,
    Office,
    Webhook,
    Worker,
)
from jobs.pages import bulk, labels
from jobs.pages.gate import reader
from jobs.pages.wishes import WishForm
from jobs.selection import in_states
from jobs.states import TRIGGERS_OF_JOBS, JobStatus

if TYPE_CHECKING:
    Inline = admin.TabularInline[Any, Any]
else:
    Inline = admin.TabularInline


admin.site.site_header = admin.site.site_title = "Dure"


class StateFilter(admin.SimpleListFilter):
    """In the form that PostgreSQL has an index for."""

    title = _("State")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(str(status), str(labels.label(status).name)) for status in JobStatus]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(in_states([value])) if (value := self.value()) else queryset


class RoleFilter(admin.SimpleListFilter):
    """The roles there are, without asking millions of jobs for theirs."""

    title = _("Role")
    parameter_name = "role"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(role, role) for role in settings.DURE_ROLES]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(role=value) if (value := self.value()) else queryset


@admin.register(Office)
class OfficeAdmin(LookOnly):
    list_display = ("name", "max_concurrent_jobs", "paused", "created_at", "its_jobs")
    list_filter = ("paused",)
    ordering = ("name", "id")

    @admin.display(description=_("Jobs"))
    def its_jobs(self, office: Office) -> str:
        return format_html('<a href="{}">→</a>', reverse("pages:jobs", args=[office.pk]))


@admin.register(Membership)
class MembershipAdmin(LookOnly):
    list_display = ("user", "office", "role")
    list_filter = ("role",)
    list_select_related = ("user", "office")
    ids = ("office",)


@admin.register(Batch)
class BatchAdmin(LookOnly):
    list_display = ("__str__", "office", "created_at", "ended_at", "its_page")
    list_select_related = ("office",)
    ids = ("pk", "office")

    @admin.display(description=_("Graph"))
    def its_page(self, batch: Batch) -> str:
        return format_html('<a href="{}">→</a>', reverse("pages:batch", args=[batch.office_id, batch.pk]))


@admin.register(Job)
class JobAdmin(LookOnly):
    list_display = (
        *("__str__", "office", "task_id", "role", "state", "priority", "urgent", "retry_count"),
        *("failure_type", "created_at", "completed_at", "its_page"),
    )
    list_filter = (StateFilter, RoleFilter)
    list_select_related = ("office",)
    ids = ("pk", "batch", "office", "execution")
    actions = ("cancel", "retry", "reprioritise")

    @admin.display(description=_("State"))
    def state(self, job: Job) -> labels.Words:
        return labels.label(job.status).name

    @admin.display(description=_("Page"))
    def its_page(self, job: Job) -> str:
        return format_html('<a href="{}">→</a>', reverse("pages:job", args=[job.office_id, job.pk]))

    @admin.action(description=_("Cancel…"), permissions=["operate"])
    def cancel(self, request: HttpRequest, rows: QuerySet[Job]) -> HttpResponse | None:
        return self.act(request, rows, "cancel")

    @admin.action(description=_("Run again…"), permissions=["operate"])
    def retry(self, request: HttpRequest, rows: QuerySet[Job]) -> HttpResponse | None:
        return self.act(request, rows, "retry")

    @admin.action(description=_("Change priority…"), permissions=["operate"])
    def reprioritise(self, request: HttpRequest, rows: QuerySet[Job]) -> HttpResponse | None:
        return self.act(request, rows, "reprioritise")

    def act(self, request: HttpRequest, rows: QuerySet[Job], verb: str) -> HttpResponse | None:
        """Asks first, then does it office by office: a verb is about the jobs of one."""
        form = WishForm(request.POST, verb=verb) if "sure" in request.POST else WishForm(verb=verb)
        if form.is_valid():
            wish = form.wish(actor=reader(request).get_username())
            offices = Office.objects.filter(pk__in=rows.order_by().values("office_id"))
            done = [bulk.apply(office, rows.filter(office=office), wish) for office in offices]
            self.tell(request, sum(one.changed for one in done))
            return None
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": _("Are you sure?"),
            "verb": verb,
            "form": form,
            "preview": bulk.preview(rows, verb),
            "ids": request.POST.getlist(helpers.ACTION_CHECKBOX_NAME),
            "across": request.POST.get("select_across", "0"),
        }
        return TemplateResponse(request, "admin/jobs/job/act.html", context)

    def tell(self, request: HttpRequest, count: int) -> None:
        words = ngettext("%(count)s job was changed.", "%(count)s jobs were changed.", count)
        self.message_user(request, words % {"count": count}, messages.SUCCESS if count else messages.WARNING)


class AttemptInline(Inline):
    model = Attempt
    extra = 0
    can_delete = False
    fields = ("number", "started_at", "ended_at", "outcome", "failure_type", "worker", "error")
    readonly_fields = fields

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Execution)
class ExecutionAdmin(LookOnly):
    list_display = (
        *("__str__", "trigger", "state", "role", "worker", "attempt", "retry_count"),
        *("created_at", "started_at", "finished_at", "failure_type"),
    )
    list_filter = ("status", "trigger")
    ids = ("pk", "job")
    raw_id_fields = ("job",)
    exclude = ("token",)
    inlines = (AttemptInline,)
    actions = ("cancel",)

    @admin.display(description=_("State"))
    def state(self, run: Execution) -> labels.Words:
        return labels.label(run.status).name

    @admin.action(description=_("Cancel"), permissions=["operate"])
    def cancel(self, request: HttpRequest, rows: QuerySet[Execution]) -> None:
        ids = list(rows.order_by("pk").values_list("pk", "trigger", "job_id", "office_id")[: bulk.MOST])
        done = sum(self._cancelled(request, *one) for one in ids)
        words = ngettext("%(count)s run cancelled.", "%(count)s runs cancelled.", done) % {"count": done}
        self.message_user(request, words, messages.SUCCESS if done else messages.WARNING)

    def _cancelled(
        self, request: HttpRequest, execution: UUID, trigger: str, job: UUID | None, office: UUID | None
    ) -> bool:
        if trigger not in TRIGGERS_OF_JOBS:
            return lifecycle.cancel_execution(execution) is not None
        # What a job owns is cancelled with it, if it is still the run that counts.
        if job is None or office is None or not Job.objects.filter(pk=job, execution_id=execution).exists():
            return False
        answer = lifecycle.cancel(office, [job], actor=reader(request).get_username())
        return bool(answer["cancelled"] + answer["cancelling"])


@admin.register(Event)
class EventAdmin(LookOnly):
    list_display = ("id", "at", "type", "office_id", "job_id", "batch_id", "by")
    list_filter = ("type",)
    ids = ("pk", "office_id")

    @admin.display(description=_("by"))
    def by(self, event: Event) -> str:
        return str(event.details.get("actor", ""))


@admin.register(Worker)
class WorkerAdmin(LookOnly):
    list_display = ("name", "roles", "slots", "running", "draining", "started_at", "seen_at")
    ordering = ("name",)
    search_fields = ()


@admin.register(Webhook)
class WebhookAdmin(LookOnly):
    list_display = ("url", "office", "enabled", "disabled_reason", "spared_until", "created_at")
    list_filter = ("enabled",)
    list_select_related = ("office",)
    exclude = ("secret", "old_secret")
    ids = ("pk", "office")


@admin.register(Notice)
class NoticeAdmin(LookOnly):
    list_display = ("id", "office", "webhook", "address", "attempts", "next_at", "sent_at", "gave_up_at")
    list_select_related = ("office", "webhook")
    ids = ("pk", "office")


@admin.register(ApiToken)
class ApiTokenAdmin(LookOnly):
    list_display = ("prefix", "name", "user", "created_at", "last_used_at", "expires_at", "revoked_at")
    list_select_related = ("user",)
    exclude = ("digest",)
    actions = ("revoke",)

    @admin.action(description=_("Revoke"), permissions=["operate"])
    def revoke(self, request: HttpRequest, rows: QuerySet[ApiToken]) -> None:
        done = rows.filter(revoked_at=None).update(revoked_at=timezone.now())
        words = ngettext("%(count)s token revoked.", "%(count)s tokens revoked.", done) % {"count": done}
        self.message_user(request, words, messages.SUCCESS)
