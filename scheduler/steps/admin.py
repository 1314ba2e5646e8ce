"""Step queues, their jobs and events in the admin, with the verbs of the API as actions."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from jobs.admin import columns, links
from jobs.admin.actions import RowAction
from jobs.admin.base import ReadOnlyAdmin
from jobs.admin.filters import choice
from jobs.admin.links import Link, rows_of
from jobs.errors import ErrorText
from jobs.models import Execution
from jobs.states import Trigger
from jobs.templatetags import pages
from scheduler.steps import lifecycle, queues
from scheduler.steps.models import Step, StepEvent, StepQueue
from scheduler.steps.pages import labels
from scheduler.steps.states import Direction, QueueState, operation_source

STATE = columns.column("state", _("state"), lambda state: pages.badge(labels.STATE_LABELS[state]))
STATE_NAMES = {state: label.name for state, label in labels.STATE_LABELS.items()}
DIRECTION = columns.label("operation_direction", _("direction"), labels.DIRECTION_NAMES)
TYPE = columns.label("type", _("event"), labels.EVENT_NAMES)
QUEUE = columns.link("queue", _("step queue"))
TIME_LIMIT = columns.seconds("expired_time", _("time limit"))


@admin.register(StepQueue)
class StepQueueAdmin(ReadOnlyAdmin):
    list_display = (
        "queue_id",
        "name",
        columns.link("owner", _("owner")),
        columns.link("office", _("office")),
        STATE,
        DIRECTION,
        "job_number",
        "run",
        "started_at",
        "ended_at",
    )
    list_filter = (choice("state", _("state"), STATE_NAMES, indexed=False),)
    list_select_related = ("owner", "office")
    ids = ("office",)
    people = ("owner",)
    beginnings = ("name",)
    fields = (
        "queue_id",
        "name",
        "owner",
        "office",
        STATE,
        DIRECTION,
        "queue_library",
        "job_number",
        "run",
        "callback_url",
        columns.row_of(Execution, "execution_id", _("run")),
        "created_at",
        "started_at",
        "ended_at",
        "cancel_requested_at",
        columns.json("context", _("context")),
        columns.json("queue_return", _("return message")),
    )
    row_actions = (
        RowAction(
            "run",
            _("Run…"),
            lambda n: ngettext("Run %d step queue", "Run %d step queues", n) % n,
            do=lambda queue, operator: lifecycle.run(queue.pk),
            refusal=lambda queue: (
                "" if queue.state == QueueState.READY else labels.STATE_LABELS[queue.state].name
            ),
            note=_("The run starts with the first job and an empty context."),
        ),
        RowAction(
            "cancel",
            _("Cancel and roll back…"),
            lambda n: ngettext("Cancel %d step queue", "Cancel %d step queues", n) % n,
            do=lambda queue, operator: lifecycle.cancel(queue.pk),
            refusal=lambda queue: "" if queue.is_cancellable else str(ErrorText("nothing_to_cancel")),
            note=_("Each queue rolls back from its current job."),
        ),
    )

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        running = obj is not None and obj.state == QueueState.RUNNING
        return not running and request.user.has_perm("scheduler.delete_stepqueue")

    def delete_model(self, request: HttpRequest, obj: StepQueue) -> None:
        queues.delete(obj.pk)

    def links(self, request: HttpRequest, row: StepQueue) -> list[Link]:
        return [
            Link(reverse("steps:queue", args=[row.pk]), _("View page")),
            rows_of(Step, _("Jobs"), queue=row.pk),
            rows_of(StepEvent, _("Events"), queue=row.pk),
        ]


@admin.register(Step)
class StepAdmin(ReadOnlyAdmin):
    list_display = (
        "__str__",
        QUEUE,
        "forward_operation",
        "backward_operation",
        "operation_library",
        TIME_LIMIT,
        "state",
    )
    list_select_related = ("queue",)
    ids = ("queue",)
    beginnings = ("forward_operation", "backward_operation")
    orders = {"queue": "number"}
    fields = (
        "job_id",
        "queue",
        "owner",
        "number",
        "state",
        "forward_operation",
        "backward_operation",
        "operation_library",
        TIME_LIMIT,
        "undo_retries",
        "prev_job",
        "next_job",
        columns.json("arguments", _("arguments")),
        columns.json("job_return", _("returns")),
    )
    row_actions = (
        RowAction(
            "rerun",
            _("Retry rollback…"),
            lambda n: ngettext("Retry the rollback of %d job", "Retry the rollback of %d jobs", n) % n,
            do=lambda step, operator: lifecycle.rerun_backward(step.queue_id, step.pk),
            refusal=lambda step: "" if step.has_failed_rollback else _("rollback has not failed"),
        ),
    )

    def links(self, request: HttpRequest, row: Step) -> list[Link]:
        names = {Direction.FORWARD: _("Forward runs"), Direction.BACKWARD: _("Backward runs")}
        return [
            rows_of(Execution, name, of=f"{Trigger.STEP}:{operation_source(row.queue_id, row.pk, direction)}")
            for direction, name in names.items()
        ]


@admin.register(StepEvent)
class StepEventAdmin(ReadOnlyAdmin):
    list_display = ("id", "at", QUEUE, "run", TYPE)
    list_filter = (choice("type", _("event"), labels.EVENT_NAMES, indexed=False),)
    list_select_related = ("queue",)
    ids = ("queue",)
    fields = ("id", "at", "queue", "run", TYPE, columns.json("details", _("details")))


def link_to_source(source: str) -> Link | None:
    """The source is `queue:job:direction` for an operation, `event:id` for a notification."""
    kind, _colon, rest = source.partition(":")
    if kind.isdecimal():
        return Link(links.address(StepQueue, kind), f"{StepQueue._meta.verbose_name} {kind}")
    return Link(links.address(StepEvent, rest), source) if rest.isdecimal() else None


links.register_source(Trigger.STEP, link_to_source)
