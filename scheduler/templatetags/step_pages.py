"""How the pages of step queues show statuses, directions and events."""

from typing import Any

from django import template
from django.utils.safestring import SafeString

from jobs.display import Text
from jobs.templatetags.pages import badge
from scheduler.steps.pages import labels
from scheduler.steps.pages.operation_status import OperationStatus, ended_status

register = template.Library()


@register.filter
def operation_status(value: OperationStatus) -> SafeString:
    return badge(labels.OPERATION_LABELS[value])


@register.filter
def operation_status_name(value: OperationStatus) -> Text:
    return labels.OPERATION_LABELS[value].name


@register.filter
def operation_status_tone(value: OperationStatus) -> str:
    return f"tone-{labels.OPERATION_LABELS[value].tone}"


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
