"""Users, groups and the admin's log. Only a superuser grants permissions."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.models import ADDITION, CHANGE, DELETION, LogEntry
from django.contrib.auth.admin import GroupAdmin, UserAdmin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from django.urls import NoReverseMatch
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from jobs.admin import columns
from jobs.admin.base import ReadOnlyAdmin, SmallTableAdmin
from jobs.admin.filters import boolean_filter, choice
from jobs.admin.links import NONE, Link, rows_of
from jobs.models import ApiToken, Membership
from jobs.pages.permissions import current_user

PERMISSION_FIELDS = ("is_staff", "is_superuser", "groups", "user_permissions")

admin.site.unregister(User)
admin.site.unregister(Group)


@admin.register(User)
class OperatorsUserAdmin(SmallTableAdmin, UserAdmin):  # type: ignore[type-arg]
    """Users are deactivated and not deleted: their schedules, exports and queues would be deleted too."""

    list_display = ("username", "email", "is_active", "is_staff", "is_superuser", "last_login")
    list_filter = (
        boolean_filter("is_active", _("active")),
        boolean_filter("is_staff", _("staff")),
        boolean_filter("is_superuser", _("superuser")),
    )

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        # Setting a superuser's password is as good as being one.
        out_of_reach = obj is not None and obj.is_superuser and not current_user(request).is_superuser
        return not out_of_reach and super().has_change_permission(request, obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        dates = ("last_login", "date_joined")
        return dates if current_user(request).is_superuser else (*dates, *PERMISSION_FIELDS)

    def links(self, request: HttpRequest, row: User) -> list[Link]:
        return [
            rows_of(Membership, _("Offices"), user=row.pk),
            rows_of(ApiToken, _("Tokens"), user=row.pk),
            rows_of(LogEntry, _("Admin log"), user=row.pk),
        ]


@admin.register(Group)
class OperatorsGroupAdmin(GroupAdmin):
    def has_add_permission(self, request: HttpRequest) -> bool:
        return current_user(request).is_superuser

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return current_user(request).is_superuser

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return current_user(request).is_superuser


@columns.display(_("row"))
def row(entry: LogEntry) -> SafeString:
    try:
        address = entry.get_admin_url()
    except NoReverseMatch:
        address = None
    return format_html('<a href="{}">{}</a>', address, entry.object_repr) if address else NONE


@columns.display(_("change"))
def change_text(entry: LogEntry) -> str:
    return str(entry.get_change_message()) or "–"


FLAG_NAMES = {str(ADDITION): _("added"), str(CHANGE): _("changed"), str(DELETION): _("deleted")}
ACTION = columns.column("action_flag", _("action"), lambda flag: FLAG_NAMES.get(str(flag), flag))


@admin.register(LogEntry)
class LogEntryAdmin(ReadOnlyAdmin):
    """The log of actions in the admin, with their reasons. Actions on jobs are in the jobs' events too."""

    list_display = ("action_time", columns.link("user", _("by")), ACTION, "content_type", row, change_text)
    list_filter = (choice("action_flag", _("action"), FLAG_NAMES, indexed=False),)
    list_select_related = ("user", "content_type")
    people = ("user",)
    fields = ("action_time", "user", ACTION, "content_type", row, change_text)
