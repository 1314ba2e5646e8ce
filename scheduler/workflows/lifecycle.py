"""Workflows are saved, and their next run is registered: exactly one pending run for each active one.

Registering is idempotent and may be done by anybody at any time: a pending run whose time has not
changed is kept, another is replaced. Lock order: workflow, its runs, then the engine's office.
"""

import logging
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from jobs.errors import Invalid
from jobs.models import Office
from scheduler.models import Workflow, WorkflowRun
from scheduler.states import RunStatus, WorkflowStatus
from scheduler.workflows import recurrence, steps
from scheduler.workflows.recurrence import ConfigError, Recurring, ScheduleConfig

log = logging.getLogger(__name__)

CREATED, KEPT, REPLACED, REMOVED, NOTHING = "created", "kept", "replaced", "removed", "nothing"
AT_ONCE = 500


def create(office: Office, given: dict[str, Any], *, now: datetime) -> Workflow:
    with transaction.atomic():
        return _write(Workflow(office=office, created_at=now), given, now)


def change(workflow_id: UUID | str, given: dict[str, Any], *, now: datetime) -> Workflow:
    """Under the row's lock: a run that starts meanwhile has the old steps, or the new ones."""
    with transaction.atomic():
        workflow = (
            Workflow.objects.select_for_update(of=("self",)).select_related("office").get(pk=workflow_id)
        )
        return _write(workflow, given, now)


def remove(workflow_id: UUID | str) -> None:
    """Delete it with its runs and their history. The jobs of a run under way go on."""
    Workflow.objects.filter(pk=workflow_id).delete()


def schedule_all(now: datetime) -> dict[str, int]:
    """Make, keep, replace or remove the pending run of every workflow."""
    counts = dict.fromkeys((CREATED, KEPT, REPLACED, REMOVED), 0)
    wrong = Workflow.objects.exclude(status=WorkflowStatus.ACTIVE).filter(runs__status=RunStatus.PENDING)
    ids = [*wrong.values_list("id", flat=True)]
    last: UUID | None = None
    while True:
        active = Workflow.objects.filter(status=WorkflowStatus.ACTIVE).order_by("id")
        some = list((active if last is None else active.filter(id__gt=last))[:AT_ONCE])
        if not some:
            break
        last = some[-1].id
        pending = dict(
            WorkflowRun.objects.filter(workflow__in=some, status=RunStatus.PENDING).values_list(
                "workflow_id", "scheduled_time"
            )
        )
        for workflow in some:
            if workflow.id in pending and _is_right(workflow, pending[workflow.id], now):
                counts[KEPT] += 1
            else:
                ids.append(workflow.id)
    for workflow_id in ids:
        outcome = _schedule_workflow(workflow_id, now)
        if outcome != NOTHING:
            counts[outcome] += 1
    return counts


def schedule_next_run(workflow: Workflow, now: datetime) -> str:
    """What became of its pending run. The caller holds the workflow's lock."""
    pending = WorkflowRun.objects.filter(workflow=workflow, status=RunStatus.PENDING).first()
    if pending is not None and _is_right(workflow, pending.scheduled_time, now):
        if pending.workflow_data != snapshot(workflow):
            WorkflowRun.objects.filter(pk=pending.pk).update(workflow_data=snapshot(workflow), updated_at=now)
        return KEPT
    due = next_due(workflow, now)
    if pending is not None:
        pending.delete()
    if due is None:
        return NOTHING if pending is None else REMOVED
    WorkflowRun.objects.create(
        workflow=workflow,
        workflow_data=snapshot(workflow),
        scheduled_time=due,
        created_at=now,
        updated_at=now,
    )
    return CREATED if pending is None else REPLACED


def next_due(workflow: Workflow, now: datetime) -> datetime | None:
    if workflow.status != WorkflowStatus.ACTIVE or workflow.activated_at is None:
        return None
    config = recurrence.read(workflow.schedule_config)
    if isinstance(config, Recurring):
        return recurrence.next_time(config, workflow.activated_at, max(now, workflow.last_occurrence or now))
    return recurrence.next_time(config, workflow.activated_at, workflow.last_occurrence)


def snapshot(workflow: Workflow) -> dict[str, Any]:
    return {"name": workflow.name, "steps": workflow.steps, "schedule_config": workflow.schedule_config}


def _schedule_workflow(workflow_id: UUID, now: datetime) -> str:
    with transaction.atomic():
        workflow = Workflow.objects.select_for_update().filter(pk=workflow_id).first()
        return NOTHING if workflow is None else schedule_next_run(workflow, now)


def _is_right(workflow: Workflow, scheduled_time: datetime, now: datetime) -> bool:
    """Is this the time at which the workflow runs next? One that is overdue still is, until it starts."""
    if scheduled_time > now:
        return next_due(workflow, now) == scheduled_time
    return next_due(workflow, scheduled_time - recurrence.INSTANT) == scheduled_time


def _write(workflow: Workflow, given: dict[str, Any], now: datetime) -> Workflow:
    was_active = workflow.status == WorkflowStatus.ACTIVE
    config_before = workflow.schedule_config
    for field, value in given.items():
        setattr(workflow, field, value)
    config = _checked_config(workflow.schedule_config)
    prepared = steps.prepare(workflow.office, workflow.steps)
    active = workflow.status == WorkflowStatus.ACTIVE
    if active and not prepared.jobs:
        raise Invalid("An active workflow has steps.", errors={"steps": ["An active workflow needs one."]})
    if active and (not was_active or workflow.schedule_config != config_before):
        workflow.activated_at = now
        if not isinstance(config, Recurring):
            workflow.last_occurrence = None  # it may run once more
        # A recurring one keeps its last turn: `now` may be from before the wait for the row, and a turn that
        # was taken meanwhile must not come again.
        if next_due(workflow, now) is None or _is_past(config, now):
            said = "Its time has passed; it would never run."
            raise Invalid(said, errors={"schedule_config.at": [said]})
    workflow.updated_at = now
    workflow.save()
    log.info("workflow %s: its next run was %s", workflow.id, schedule_next_run(workflow, now))
    return workflow


def _checked_config(config: object) -> ScheduleConfig:
    try:
        return recurrence.read(config)
    except ConfigError as refused:
        errors = {f"schedule_config.{field}": why for field, why in refused.errors.items()}
        raise Invalid(f"schedule_config: {refused}", errors=errors) from None


def _is_past(config: ScheduleConfig, now: datetime) -> bool:
    return isinstance(config, recurrence.Scheduled) and config.at <= now
