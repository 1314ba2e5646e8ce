"""Exports for operators: what runs and what failed, and the dead letters with what can be done about them."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from exports import deadletters, lifecycle
from exports.messages import PROGRESS, REQUESTS, RESULTS
from exports.models import DeadLetter, ExportEvent, ExportJob, Replay, StreamOutbox
from exports.pages import labels
from exports.states import LIVE, TERMINAL, JobType, Status
from jobs.admin import columns, links
from jobs.admin.actions import RowAction
from jobs.admin.base import ReadOnlyAdmin
from jobs.admin.changelist import newest
from jobs.admin.filters import choice
from jobs.admin.links import Link, rows_of
from jobs.display import Text, state_label
from jobs.errors import Refused
from jobs.models import Execution
from jobs.pages.permissions import current_user
from jobs.states import Trigger

OWNER = columns.linked("owner", _("owner"))
STATE = columns.state(_("state"))
KIND = columns.named("job_type", _("kind"), labels.KINDS)
EXPORT = columns.row_of(ExportJob, "job_id", _("export"))


class ExportsAdmin(ReadOnlyAdmin):
    def refusal_text(self, refused: Refused) -> str:
        return labels.refusal(refused)


def names_of(states: Any) -> dict[str, Text]:
    return {one: state_label(one).name for one in states}


class StateFilter(choice("status", _("state"), names_of(Status))):  # type: ignore[misc]
    """What has not ended has an index of its own; what has ended is looked for among the newest."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        found = super().queryset(request, queryset)
        return newest(found) if self.value() in TERMINAL else found


@admin.register(ExportJob)
class ExportJobAdmin(ExportsAdmin):
    list_display = (
        *("id", KIND, OWNER, columns.linked("replay", _("replay")), STATE, "progress"),
        *(columns.named("phase", _("phase"), labels.PHASES), "error_code", "created_at", "ended_at"),
    )
    list_filter = (StateFilter, choice("job_type", _("kind"), labels.KINDS, indexed=False))
    list_select_related = ("owner", "replay")
    ids = ("replay",)
    people = ("owner",)
    fields = (
        *(
            "id",
            KIND,
            "owner",
            "replay",
            STATE,
            "progress",
            columns.named("phase", _("phase"), labels.PHASES),
        ),
        *("message", "error_code", "error_message", "result_uri", "result_size", "result_checksum"),
        *("created_at", "started_at", "heard_at", "ended_at"),
        columns.row_of(Execution, "execution_id", _("run")),
    )
    row_actions = (
        RowAction(
            "cancel",
            _("Cancel…"),
            lambda n: ngettext("Cancel %d export", "Cancel %d exports", n) % n,
            do=lambda job, operator: lifecycle.cancel(job.pk, timezone.now()),
            refusal=lambda job: "" if job.status in LIVE else state_label(job.status).name,
        ),
        RowAction(
            "again",
            _("Make again…"),
            lambda n: ngettext("Make %d export again", "Make %d exports again", n) % n,
            do=lambda job, operator: lifecycle.request(job.replay, JobType(job.job_type), timezone.now()),
            refusal=lambda job: state_label(job.status).name if job.status in LIVE else "",
            note=_("Each becomes a new export of the same replay, of the same owner."),
        ),
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("replay")

    def links(self, request: HttpRequest, row: ExportJob) -> list[Link]:
        own = row.owner_id == current_user(request).pk
        page = [Link(reverse("exports:export", args=[row.pk]), _("Its page"))] if own else []
        runs = rows_of(Execution, _("Its runs"), of=f"{Trigger.EXPORT}:{row.pk}")
        return [*page, runs]


@admin.register(Replay)
class ReplayAdmin(ReadOnlyAdmin):
    list_display = (
        *("id", "title", OWNER, columns.named("kind", _("format"), labels.FORMATS), "size_bytes"),
        *(columns.milliseconds("duration_ms", _("length")), "created_at"),
    )
    list_filter = (choice("kind", _("format"), labels.FORMATS, indexed=False),)
    list_select_related = ("owner",)
    people = ("owner",)
    beginnings = ("title", "file_name")
    fields = (
        *("id", "title", "owner", "file_name", columns.named("kind", _("format"), labels.FORMATS), "path"),
        *("size_bytes", "sha256", columns.milliseconds("duration_ms", _("length")), "created_at"),
    )

    def links(self, request: HttpRequest, row: Replay) -> list[Link]:
        return [rows_of(ExportJob, _("Its exports"), replay=row.pk)]


@admin.register(ExportEvent)
class ExportEventAdmin(ReadOnlyAdmin):
    list_display = ("id", "at", OWNER, EXPORT, "type")
    list_select_related = ("owner",)
    people = ("owner",)
    fields = ("id", "at", "owner", EXPORT, "type", columns.json("data", _("message")))


@admin.register(StreamOutbox)
class StreamOutboxAdmin(ReadOnlyAdmin):
    list_display = ("id", "stream", "created_at", "taken_until")
    fields = ("id", "stream", columns.json("fields", _("message")), "created_at", "taken_until")


def handled(letter: DeadLetter) -> Text:
    return "" if letter.state == DeadLetter.State.OPEN else state_label(letter.state).name


def not_sendable(letter: DeadLetter) -> Text:
    return handled(letter) or ("" if letter.whole else labels.REFUSALS["not_whole"])


@admin.register(DeadLetter)
class DeadLetterAdmin(ExportsAdmin):
    list_display = (
        *("id", "source_stream", "source_id", "reason", "failed_at", columns.state(_("state"), "state")),
        columns.linked("handled_by", _("handled by")),
    )
    list_filter = (
        choice("state", _("state"), names_of(DeadLetter.State)),
        choice("source_stream", _("stream"), (REQUESTS, PROGRESS, RESULTS), indexed=False),
    )
    list_select_related = ("handled_by",)
    beginnings = ("source_id", "reason")
    fields = (
        *("id", "source_stream", "source_id", "reason", columns.json("fields", _("message")), "whole"),
        *("failed_at", columns.state(_("state"), "state"), "handled_by", "handled_at"),
    )
    row_actions = (
        RowAction(
            "republish",
            _("Publish again…"),
            lambda n: ngettext("Publish %d message again", "Publish %d messages again", n) % n,
            do=lambda letter, operator: deadletters.republish(letter.pk, operator.user, timezone.now()),
            refusal=not_sendable,
            note=_("As it was, with the same jobId: so it has one effect at most."),
        ),
        RowAction(
            "discard",
            _("Discard…"),
            lambda n: ngettext("Discard %d message", "Discard %d messages", n) % n,
            do=lambda letter, operator: deadletters.discard(letter.pk, operator.user, timezone.now()),
            refusal=handled,
            note=_("It is kept for the record, and cannot be sent any more."),
        ),
    )

    def links(self, request: HttpRequest, row: DeadLetter) -> list[Link]:
        return [Link(reverse("exports:letter", args=[row.pk]), _("Its page"))]


def of_export(source: str) -> Link | None:
    name = f"{ExportJob._meta.verbose_name} {source}"
    return Link(links.address(ExportJob, source), name) if source.isdecimal() else None


links.source(Trigger.EXPORT, of_export)
