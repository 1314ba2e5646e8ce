"""The index of the admin: tables in groups by what an operator looks for, the engine's own at the end."""

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from jobs.display import Text

# A table in none of them stands below its app, before the last group.
GROUPS: dict[str, tuple[Text, tuple[str, ...]]] = {
    "work": (_("Jobs and runs"), ("jobs.Job", "jobs.Batch", "jobs.Execution", "jobs.Attempt", "jobs.Event")),
    "offices": (
        _("Offices"),
        (
            *("jobs.Office", "jobs.Membership", "jobs.Activity", "jobs.Webhook", "jobs.Notification"),
            *("jobs.ApiToken", "scheduler.SavedView"),
        ),
    ),
    "schedules": (
        _("Schedules and workflows"),
        (
            *("scheduler.Schedule", "scheduler.Occurrence", "scheduler.Calendar", "scheduler.Workflow"),
            "scheduler.WorkflowRun",
        ),
    ),
    "step-queues": (_("Step queues"), ("scheduler.StepQueue", "scheduler.Step", "scheduler.StepEvent")),
    "exports": (
        _("Exports"),
        ("exports.ExportJob", "exports.Replay", "exports.ExportLink", "exports.DeadLetter"),
    ),
    "workers": (
        _("Workers and queues"),
        ("jobs.Worker", "jobs.ServedRole", "jobs.PausedRole", "jobs.TaskLimit", "scheduler.Beat"),
    ),
    "users": (_("Users"), ("auth.User", "auth.Group", "jobs.Identity", "admin.LogEntry")),
}
LAST: tuple[str, Text, tuple[str, ...]] = (
    "internals",
    _("Internals of the engine"),
    (
        *("jobs.Counter", "jobs.EventCursor", "jobs.IdempotentAnswer", "jobs.SocketTicket", "jobs.Deletion"),
        *("scheduler.BeatLeader", "scheduler.QueueProbe", "scheduler.Minute", "scheduler.RoleMinute"),
        *("scheduler.WorkflowRunStart", "exports.ExportEvent", "exports.StreamOutbox"),
    ),
)


class Site(admin.AdminSite):
    def get_app_list(self, request: HttpRequest, app_label: str | None = None) -> list[Any]:
        by_app: list[Any] = super().get_app_list(request, app_label)
        if app_label is not None:
            return by_app
        tables = {table["model"]: table for app in by_app for table in app["models"]}
        groups = [_group(key, name, labels, tables) for key, (name, labels) in GROUPS.items()]
        last = _group(*LAST, tables)
        rest = [
            {**app, "models": [table for table in app["models"] if table["model"] in tables]}
            for app in by_app
        ]
        return [group for group in (*groups, *rest, last) if group["models"]]


def _group(key: str, name: Text, labels: tuple[str, ...], tables: dict[Any, Any]) -> dict[str, Any]:
    """The tables of the group that the user may see; they leave `tables`."""
    visible = [tables.pop(model, None) for model in map(apps.get_model, labels)]
    return {
        "name": name,
        "app_label": key,
        "app_url": f"{reverse('admin:index')}#{key}",
        "has_module_perms": True,
        "models": [table for table in visible if table],
    }
