"""Step queues, their jobs and their story in the admin: run, turned back and undone by the API's verbs."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from jobs.admin import columns, links
from jobs.admin.actions import Act, Acting
from jobs.admin.base import LookOnly
from jobs.admin.filters import choice
from jobs.admin.forms import ByVerbs
from jobs.admin.links import Link, rows_of
from jobs.display import Text
from jobs.errors import Refused
from jobs.models import Execution
from jobs.states import Trigger
from jobs.templatetags import pages
from scheduler.steps import lifecycle, queues
from scheduler.steps.models import Step, StepEvent, StepQueue
from scheduler.steps.pages import labels
from scheduler.steps.states import NO_OPERATION, Direction, QueueState, undo_failed

STATE = columns.column("state", _("state"), lambda state: pages.shown(labels.STATES[state]))
DIRECTION = columns.named("operation_direction", _("direction"), labels.DIRECTIONS)
TYPE = columns.named("type", _("what happened"), labels.EVENTS)
QUEUE = columns.linked("queue", _("step queue"))


class TellsRefusals(Acting):
    def told(self, refused: Refused) -> str:
        return labels.refusal(refused)


def not_runnable(queue: StepQueue) -> Text:
    return "" if queue.state == QueueState.READY else labels.STATES[queue.state].name


def not_turnable(queue: StepQueue) -> Text:
    forward = queue.state == QueueState.RUNNING and queue.operation_direction == Direction.FORWARD
    if forward and queue.cancel_requested_at is None:
        return ""
    return labels.REFUSALS["nothing_to_cancel"]


@admin.register(StepQueue)
class StepQueueAdmin(ByVerbs, TellsRefusals, LookOnly):
    list_display = (
        *(
            "queue_id",
            "name",
            columns.linked("owner", _("owner")),
            columns.linked("office", _("office")),
            STATE,
        ),
        *(DIRECTION, "job_number", "run", "started_at", "ended_at"),
    )
    list_filter = (
        choice(
            "state",
            _("state"),
            {one: label.name for one, label in labels.STATES.items()},
            indexed=False,
        ),
    )
    list_select_related = ("owner", "office")
    ids = ("office",)
    people = ("owner",)
    beginnings = ("name",)
    fields = (
        *("queue_id", "name", "owner", "office", STATE, DIRECTION, "queue_library", "job_number", "run"),
        *("callback_url", columns.row_of(Execution, "execution_id", _("run")), "created_at", "started_at"),
        *("ended_at", "cancel_requested_at", columns.json("context", _("context"))),
        columns.json("queue_return", _("return message")),
    )
    acts = (
        Act(
            "run",
            _("Run…"),
            lambda n: ngettext("Run %d step queue", "Run %d step queues", n) % n,
            do=lambda queue, by: lifecycle.run(queue.pk),
            refusal=not_runnable,
            note=_("It begins with its first job, with an empty context."),
        ),
        Act(
            "cancel",
            _("Turn back…"),
            lambda n: ngettext("Turn %d step queue back", "Turn %d step queues back", n) % n,
            do=lambda queue, by: lifecycle.cancel(queue.pk),
            refusal=not_turnable,
            note=_("What was done is undone, in reverse."),
        ),
    )

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        runs = obj is not None and obj.state == QueueState.RUNNING
        return not runs and request.user.has_perm("scheduler.delete_stepqueue")

    def delete_model(self, request: HttpRequest, obj: StepQueue) -> None:
        queues.remove(obj.pk)

    def links(self, request: HttpRequest, row: StepQueue) -> list[Link]:
        return [
            Link(reverse("steps:queue", args=[row.pk]), _("Its page")),
            rows_of(Step, _("Its jobs"), queue=row.pk),
            rows_of(StepEvent, _("Its events"), queue=row.pk),
        ]


def not_undoable_again(step: Step) -> Text:
    return (
        ""
        if undo_failed(step.state) and step.backward_operation != NO_OPERATION
        else _("nothing of it failed")
    )


@admin.register(Step)
class StepAdmin(TellsRefusals, LookOnly):
    list_display = (
        *("__str__", QUEUE, "forward_operation", "backward_operation", "operation_library", "expired_time"),
        "state",
    )
    list_select_related = ("queue",)
    ids = ("queue",)
    beginnings = ("forward_operation", "backward_operation")
    orders = {"queue": "number"}
    fields = (
        *("job_id", "queue", "number", "state", "forward_operation", "backward_operation"),
        *(
            "operation_library",
            "expired_time",
            "prev_job",
            "next_job",
            columns.json("arguments", _("arguments")),
        ),
        columns.json("job_return", _("returned")),
    )
    acts = (
        Act(
            "rerun",
            _("Undo again…"),
            lambda n: ngettext("Undo %d job again", "Undo %d jobs again", n) % n,
            do=lambda step, by: lifecycle.rerun_backward(step.queue_id, step.pk),
            refusal=not_undoable_again,
        ),
    )

    def links(self, request: HttpRequest, row: Step) -> list[Link]:
        both = [f"{row.queue_id}:{row.pk}:{direction}" for direction in Direction]
        words = (_("Its forward runs"), _("Its backward runs"))
        return [
            rows_of(Execution, text, of=f"{Trigger.STEP}:{source}")
            for text, source in zip(words, both, strict=True)
        ]


@admin.register(StepEvent)
class StepEventAdmin(LookOnly):
    list_display = ("id", "at", QUEUE, "run", TYPE)
    list_filter = (choice("type", _("what happened"), labels.EVENTS, indexed=False),)
    list_select_related = ("queue",)
    ids = ("queue",)
    fields = ("id", "at", "queue", "run", TYPE, columns.json("details", _("details")))


def of_step(source: str) -> Link | None:
    """`queue:job:direction` of an operation, `event:id` of a message about one."""
    queue, _colon, rest = source.partition(":")
    if queue.isdecimal():
        return Link(links.address(StepQueue, queue), f"{StepQueue._meta.verbose_name} {queue}")
    return Link(links.address(StepEvent, rest), source) if rest.isdecimal() else None


links.source(Trigger.STEP, of_step)
