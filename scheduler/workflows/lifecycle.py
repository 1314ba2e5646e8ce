"""Saves workflows and schedules their next run: exactly one pending run for each active workflow.

Scheduling the next run is idempotent and any process may do it at any time: a pending run whose time is
still right is kept, any other is replaced. Lock order: workflow, its runs, then the engine's office.
"""

import logging
from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery

from jobs import activity, deletions
from jobs.errors import Conflict, Invalid
from jobs.models import Deletion, Office
from jobs.states import Act, DeletedKind
from scheduler.models import Workflow, WorkflowRun
from scheduler.states import RunStatus, WorkflowStatus
from scheduler.workflows import inputs, recurrence, steps
from scheduler.workflows.recurrence import ConfigError, Recurring, ScheduleConfig

log = logging.getLogger(__name__)

CREATED, KEPT, REPLACED, REMOVED, NOTHING = "created", "kept", "replaced", "removed", "nothing"
BATCH = 500
MAX_RUN_RETRIES = 100
# A change of nothing but the status has an act of its own.
STATUS_ACTS: dict[str, Act] = {
    WorkflowStatus.ACTIVE: Act.WORKFLOW_ACTIVATED,
    WorkflowStatus.PAUSED: Act.WORKFLOW_PAUSED,
}


def create(office: Office, values: dict[str, Any], *, now: datetime) -> Workflow:
    with transaction.atomic():
        workflow = _write(Workflow(office=office, created_at=now), values, now)
        _record(Act.WORKFLOW_CREATED, workflow)
        return workflow


def change(workflow_id: UUID | str, values: dict[str, Any], *, now: datetime) -> Workflow:
    """Write under the row's lock: a run that starts meanwhile has the old steps or the new ones."""
    with transaction.atomic():
        workflow = (
            Workflow.objects.select_for_update(of=("self",)).select_related("office").get(pk=workflow_id)
        )
        before = activity.values_of(workflow, values)
        _write(workflow, values, now)
        if fields := activity.changed_fields(workflow, before):
            act = STATUS_ACTS.get(workflow.status) if fields == ["status"] else None
            _record(act or Act.WORKFLOW_CHANGED, workflow, **({} if act else {"fields": fields}))
        return workflow


def remove(workflow_id: UUID | str, *, now: datetime, undo_for: User | None = None) -> Deletion | None:
    """Delete the workflow with its runs and their log. The jobs of a run in progress continue.

    Of several deletions at once only the first has an effect. `undo_for` may restore it.
    """
    with transaction.atomic():
        workflow = Workflow.objects.select_for_update().filter(pk=workflow_id).first()
        if workflow is None:
            return None
        Workflow.objects.filter(pk=workflow.pk).update(deleted_at=now, updated_at=now)
        WorkflowRun.objects.filter(workflow=workflow, status=RunStatus.PENDING).delete()
        _record(Act.WORKFLOW_DELETED, workflow)
        if undo_for is None:
            return None
        return deletions.record(DeletedKind.WORKFLOW, workflow, undo_for, now, is_marked=True)


def restore(deletion: Deletion, *, now: datetime) -> Workflow:
    """Undo a deletion, and schedule the next run; raises Conflict."""
    with deletions.claim(deletion, now):
        deleted = Workflow.with_deleted.filter(pk=deletion.row["id"], deleted_at=deletion.deleted_at)
        if not deleted.update(deleted_at=None, updated_at=now):
            raise Conflict("cannot_undo")
        workflow = Workflow.objects.get(pk=deletion.row["id"])
        schedule_next_run(workflow, now)
        _record(Act.WORKFLOW_RESTORED, workflow)
    return workflow


def _record(act: Act, workflow: Workflow, **details: Any) -> None:
    activity.record(act, office=workflow.office_id, workflow=workflow.name, **details)


def schedule_all(now: datetime) -> dict[str, int]:
    """Create, keep, replace or remove the pending run of every workflow."""
    counts = dict.fromkeys((CREATED, KEPT, REPLACED, REMOVED), 0)
    inactive = Workflow.objects.exclude(status=WorkflowStatus.ACTIVE).filter(runs__status=RunStatus.PENDING)
    ids = [*inactive.values_list("id", flat=True)]
    last: UUID | None = None
    while True:
        active = with_next_run(Workflow.objects.filter(status=WorkflowStatus.ACTIVE)).order_by("id")
        batch = list((active if last is None else active.filter(id__gt=last))[:BATCH])
        if not batch:
            break
        last = batch[-1].id
        for workflow in batch:
            if workflow.next_run_at is not None and _is_next(workflow, workflow.next_run_at, now):
                counts[KEPT] += 1
            else:
                ids.append(workflow.id)
    for workflow_id in ids:
        outcome = _schedule_workflow(workflow_id, now)
        if outcome != NOTHING:
            counts[outcome] += 1
    return counts


def with_next_run(workflows: QuerySet[Workflow]) -> QuerySet[Any]:
    """The workflows with the time of their pending run, as `next_run_at`."""
    pending = WorkflowRun.objects.filter(workflow=OuterRef("pk"), status=RunStatus.PENDING)
    return workflows.annotate(next_run_at=Subquery(pending.values("scheduled_time")))


def schedule_next_run(workflow: Workflow, now: datetime) -> str:
    """Create, keep, replace or remove the pending run. The caller holds the workflow's lock."""
    pending = WorkflowRun.objects.filter(workflow=workflow, status=RunStatus.PENDING).first()
    if pending is not None and _is_next(workflow, pending.scheduled_time, now):
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
    if not workflow.is_active or workflow.activated_at is None:
        return None
    config, last = recurrence.read(workflow.schedule_config), workflow.last_occurrence
    after = max(now, last or now) if isinstance(config, Recurring) else last
    return recurrence.next_time(config, workflow.activated_at, after)


def snapshot(workflow: Workflow) -> dict[str, Any]:
    return {
        "name": workflow.name,
        "version": workflow.version,
        "steps": workflow.steps,
        "schedule_config": workflow.schedule_config,
    }


def _definition(workflow: Workflow) -> tuple[object, ...]:
    return workflow.steps, workflow.schedule_config, workflow.input_schema


def _schedule_workflow(workflow_id: UUID, now: datetime) -> str:
    with transaction.atomic():
        workflow = Workflow.objects.select_for_update().filter(pk=workflow_id).first()
        return NOTHING if workflow is None else schedule_next_run(workflow, now)


def _is_next(workflow: Workflow, scheduled_time: datetime, now: datetime) -> bool:
    """Whether the workflow runs next at this time. An overdue time stays right until it is started."""
    if scheduled_time > now:
        return next_due(workflow, now) == scheduled_time
    return next_due(workflow, scheduled_time - recurrence.INSTANT) == scheduled_time


def _write(workflow: Workflow, values: dict[str, Any], now: datetime) -> Workflow:
    was_active = workflow.is_active
    old_config, old_definition = workflow.schedule_config, _definition(workflow)
    for field, value in values.items():
        setattr(workflow, field, value)
    config = _checked_config(workflow.schedule_config)
    prepared = steps.prepare(workflow.office, workflow.steps)
    if workflow.input_schema is not None:
        inputs.check_schema(workflow.input_schema)
    is_active = workflow.is_active
    if is_active and not prepared.jobs:
        raise Invalid(errors={"steps": ["steps_empty"]})
    if is_active and workflow.input_schema is not None:
        inputs.check_start_without_input(workflow.input_schema)
    if is_active and (not was_active or workflow.schedule_config != old_config):
        workflow.activated_at = now
        if not isinstance(config, Recurring):
            workflow.last_occurrence = None  # it may run once more
        # A recurring workflow keeps its last occurrence: `now` may be from before the wait for the row, and
        # an occurrence that started meanwhile must not start again.
        if next_due(workflow, now) is None or _is_past(config, now):
            raise Invalid(errors={"schedule_config.at": ["time_passed"]})
    if not workflow._state.adding and _definition(workflow) != old_definition:
        workflow.version += 1
    workflow.updated_at = now
    workflow.save()
    log.info("workflow %s: next run %s", workflow.id, schedule_next_run(workflow, now))
    return workflow


def _checked_config(config: object) -> ScheduleConfig:
    try:
        return recurrence.read(config)
    except ConfigError as invalid:
        errors = {f"schedule_config.{field}": texts for field, texts in invalid.errors.items()}
        raise Invalid(errors=errors) from None


def _is_past(config: ScheduleConfig, now: datetime) -> bool:
    return isinstance(config, recurrence.Scheduled) and config.at <= now
