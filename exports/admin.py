"""The admin of exports, replays, the outbox and dead letters, with actions for operators."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from exports import deadletters, display, error_texts, lifecycle
from exports import links as links_of_exports
from exports.messages import INPUTS
from exports.models import DeadLetter, ExportEvent, ExportJob, ExportLink, Replay, StreamOutbox
from exports.states import LIVE, TERMINAL, JobType, Status
from jobs.admin import columns, links
from jobs.admin.actions import RowAction
from jobs.admin.base import ReadOnlyAdmin
from jobs.admin.changelist import newest
from jobs.admin.filters import choice
from jobs.admin.links import Link, rows_of
from jobs.display import Text, state_label
from jobs.models import Execution
from jobs.pages.permissions import current_user
from jobs.states import Trigger

OWNER = columns.link("owner", _("owner"))
STATE = columns.state(_("state"))
KIND = columns.label("job_type", _("kind"), display.KIND_NAMES)
PHASE = columns.label("phase", _("phase"), display.PHASE_NAMES)
FORMAT = columns.label("kind", _("format"), display.FORMAT_NAMES)
LENGTH = columns.milliseconds("duration_ms", _("length"))
EXPORT = columns.row_of(ExportJob, "job_id", _("export"))


def names_of(states: Any) -> dict[str, Text]:
    return {state: state_label(state).name for state in states}


class StateFilter(choice("status", _("state"), names_of(Status))):  # type: ignore[misc]
    """Live states have an index of their own; the filter searches ended states among the newest rows."""

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        rows = super().queryset(request, queryset)
        return newest(rows) if self.value() in TERMINAL else rows


@admin.register(ExportJob)
class ExportJobAdmin(ReadOnlyAdmin):
    list_display = (
        *("id", KIND, OWNER, columns.link("replay", _("replay")), STATE, "progress", PHASE),
        *("error_code", "created_at", "ended_at"),
    )
    list_filter = (StateFilter, choice("job_type", _("kind"), display.KIND_NAMES, indexed=False))
    list_select_related = ("owner", "replay")
    ids = ("replay",)
    people = ("owner",)
    fields = (
        *("id", KIND, "owner", "replay", STATE, "progress", PHASE, "resolution", "fps"),
        *(columns.milliseconds("from_ms", _("from")), columns.milliseconds("to_ms", _("to"))),
        "sound",
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
            _("Export again…"),
            lambda n: ngettext("Start %d export again", "Start %d exports again", n) % n,
            do=lambda job, operator: lifecycle.request(
                job.replay, JobType(job.job_type), timezone.now(), job.options
            ),
            refusal=lambda job: state_label(job.status).name if job.status in LIVE else "",
            note=_("Creates a new export of the same replay for the same owner."),
        ),
    )

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).select_related("replay")

    def links(self, request: HttpRequest, row: ExportJob) -> list[Link]:
        is_owner = row.owner_id == current_user(request).pk
        page = [Link(reverse("exports:export", args=[row.pk]), _("View page"))] if is_owner else []
        runs = rows_of(Execution, _("Runs"), of=f"{Trigger.EXPORT}:{row.pk}")
        return [*page, runs]


@admin.register(ExportLink)
class ExportLinkAdmin(ReadOnlyAdmin):
    list_display = ("id", columns.link("export", _("export")), "created_at", "expires_at")
    list_select_related = ("export",)
    ids = ("export",)
    fields = ("id", "export", "created_at", "expires_at")
    row_actions = (
        RowAction(
            "revoke",
            _("Revoke…"),
            lambda n: ngettext("Revoke %d link", "Revoke %d links", n) % n,
            do=lambda link, operator: links_of_exports.revoke(link.export, link.pk),
            note=_("The link ends at once."),
        ),
    )


@admin.register(Replay)
class ReplayAdmin(ReadOnlyAdmin):
    list_display = ("id", "title", OWNER, FORMAT, "size_bytes", LENGTH, "created_at")
    list_filter = (choice("kind", _("format"), display.FORMAT_NAMES, indexed=False),)
    list_select_related = ("owner",)
    people = ("owner",)
    beginnings = ("title", "file_name")
    fields = (
        *("id", "title", "owner", "file_name", FORMAT, "path"),
        *("size_bytes", "sha256", LENGTH, "created_at"),
    )

    def links(self, request: HttpRequest, row: Replay) -> list[Link]:
        return [rows_of(ExportJob, _("Exports"), replay=row.pk)]


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


def why_closed(letter: DeadLetter) -> Text:
    return "" if letter.state == DeadLetter.State.OPEN else state_label(letter.state).name


def why_not_sendable(letter: DeadLetter) -> Text:
    return why_closed(letter) or ("" if letter.whole else error_texts.TEXTS["not_whole"])


@admin.register(DeadLetter)
class DeadLetterAdmin(ReadOnlyAdmin):
    list_display = (
        *("id", "source_stream", "source_id", "reason", "failed_at", columns.state(_("state"), "state")),
        columns.link("handled_by", _("handled by")),
    )
    list_filter = (
        choice("state", _("state"), names_of(DeadLetter.State)),
        choice("source_stream", _("stream"), INPUTS, indexed=False),
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
            _("Send again…"),
            lambda n: ngettext("Send %d message again", "Send %d messages again", n) % n,
            do=lambda letter, operator: deadletters.republish(letter.pk, operator.user, timezone.now()),
            refusal=why_not_sendable,
            note=_("It is sent unchanged, with the same jobId, so it takes effect at most once."),
        ),
        RowAction(
            "discard",
            _("Discard…"),
            lambda n: ngettext("Discard %d message", "Discard %d messages", n) % n,
            do=lambda letter, operator: deadletters.discard(letter.pk, operator.user, timezone.now()),
            refusal=why_closed,
            note=_("The message is never sent again. Its record stays."),
        ),
    )

    def links(self, request: HttpRequest, row: DeadLetter) -> list[Link]:
        return [Link(reverse("exports:dead-letter", args=[row.pk]), _("View page"))]


def link_to_export(source: str) -> Link | None:
    name = f"{ExportJob._meta.verbose_name} {source}"
    return Link(links.address(ExportJob, source), name) if source.isdecimal() else None


links.register_source(Trigger.EXPORT, link_to_export)
