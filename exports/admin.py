"""Exports for operators: what runs and what failed, and the dead letters with what can be done about them."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from exports import deadletters, lifecycle
from exports.models import DeadLetter, ExportJob, Replay
from jobs.errors import Conflict

if TYPE_CHECKING:
    Base = admin.ModelAdmin[Any]
else:
    Base = admin.ModelAdmin


class LookOnly(Base):
    """Rows are changed by verbs: an edited field would bypass their guards."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """For the actions below: who may change rows of this kind, though not field by field."""
        return request.user.has_perm(f"{self.opts.app_label}.change_{self.opts.model_name}")

    def each(self, request: HttpRequest, rows: QuerySet[Any], verb: Callable[[int], Any]) -> None:
        """Does it for each, and tells how many it was done for and why not for the others."""
        done, refused = 0, list[str]()
        for number in rows.order_by("pk").values_list("pk", flat=True):
            try:
                verb(number)
                done += 1
            except Conflict as conflict:
                refused.append(f"{number}: {conflict.message}")
        if done:
            self.message_user(request, ngettext("%d done.", "%d done.", done) % done, messages.SUCCESS)
        for sentence in refused[:20]:
            self.message_user(request, sentence, messages.WARNING)


@admin.register(DeadLetter)
class DeadLetterAdmin(LookOnly):
    list_display = ("id", "source_stream", "source_id", "reason", "failed_at", "state", "handled_by")
    list_filter = ("state", "source_stream")
    list_select_related = ("handled_by",)
    actions = ("republish", "discard")

    @admin.action(description=_("Publish again, with the same jobId"), permissions=["operate"])
    def republish(self, request: HttpRequest, rows: QuerySet[DeadLetter]) -> None:
        self.each(request, rows, lambda number: deadletters.republish(number, _user(request), timezone.now()))

    @admin.action(description=_("Discard"), permissions=["operate"])
    def discard(self, request: HttpRequest, rows: QuerySet[DeadLetter]) -> None:
        self.each(request, rows, lambda number: deadletters.discard(number, _user(request), timezone.now()))


@admin.register(ExportJob)
class ExportJobAdmin(LookOnly):
    list_display = (
        "id",
        "job_type",
        "owner",
        "replay",
        "status",
        "progress",
        "phase",
        "error_code",
        "created_at",
    )
    list_filter = ("status", "job_type")
    list_select_related = ("owner", "replay")
    search_fields = ("=id", "owner__username", "replay__title")
    actions = ("cancel",)

    @admin.action(description=_("Cancel"), permissions=["operate"])
    def cancel(self, request: HttpRequest, rows: QuerySet[ExportJob]) -> None:
        self.each(request, rows, lambda number: lifecycle.cancel(number, timezone.now()))


@admin.register(Replay)
class ReplayAdmin(LookOnly):
    list_display = ("id", "title", "owner", "kind", "size_bytes", "duration_ms", "created_at")
    list_filter = ("kind",)
    list_select_related = ("owner",)
    search_fields = ("=id", "owner__username", "title")


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)  # noqa: S101 (the admin lets nobody else in)
    return request.user
