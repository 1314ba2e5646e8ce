"""How the pages of step queues show marks, directions and what happened."""

from django import template
from django.utils.safestring import SafeString

from jobs.display import Text
from jobs.models import Execution
from jobs.states import Trigger
from jobs.templatetags.pages import shown
from scheduler.steps.pages import labels
from scheduler.steps.pages.marks import Mark

register = template.Library()


@register.filter
def mark(value: Mark) -> SafeString:
    return shown(labels.MARKS[value])


@register.filter
def mark_name(value: Mark) -> Text:
    return labels.MARKS[value].name


@register.filter
def mark_tone(value: Mark) -> str:
    return f"tone-{labels.MARKS[value].tone}"


@register.filter
def direction(value: str) -> Text:
    return labels.DIRECTIONS.get(value, value)


@register.filter
def happened_to_queue(value: str) -> Text:
    return labels.EVENTS.get(value, value)


@register.filter
def queue_of(run: Execution) -> int | None:
    """The queue whose operation this is; None of what belongs to none."""
    queue, _, _ = run.source.partition(":")
    return int(queue) if run.trigger == Trigger.STEP and queue.isdecimal() else None
