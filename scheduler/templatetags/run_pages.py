"""Template filters of the list of runs."""

from uuid import UUID

from django import template
from django.urls import reverse

from jobs.models import Execution
from scheduler.pages.causes import Cause
from scheduler.runs.rows import Run

register = template.Library()


@register.filter
def run_address(run: Run) -> str:
    """The page of the run: of its job, if it has one."""
    if run.job is not None:
        return reverse("pages:job", args=[run.job.office_id, run.job.pk])
    return reverse("scheduler:execution", args=[run.id])


@register.filter
def cause_in(run: Run, causes: dict[UUID, Cause]) -> Cause:
    return causes.get(run.id, Cause())


@register.filter
def queue_in(run: Execution, queues: dict[UUID, int]) -> int | None:
    return queues.get(run.id)


@register.filter
def usual_in(run: Execution, slow: dict[UUID, float]) -> float | None:
    """The usual seconds of a run that takes much longer."""
    return slow.get(run.id)
