"""How the pages of step queues show directions and events."""

from typing import Any

from django import template

from jobs.display import Text
from scheduler.steps.pages import labels
from scheduler.steps.pages.operation_status import ended_status

register = template.Library()


@register.filter
def direction(value: str) -> Text:
    return labels.DIRECTION_NAMES.get(value, value)


@register.filter
def ended_operation(details: dict[str, Any]) -> Text:
    """How the operation of an event ended."""
    status = ended_status(details["state"], details["direction"])
    return labels.OPERATION_LABELS[status].name


@register.filter
def queue_event(value: str) -> Text:
    return labels.EVENT_NAMES.get(value, value)
