"""Schedules, workflows, step queues and the overview's statistics."""

from scheduler.models.alerts import AlertsSeen
from scheduler.models.calendar import Calendar
from scheduler.models.monitoring import Beat, BeatLeader, Minute, QueueProbe, RoleMinute
from scheduler.models.saved_view import SavedView
from scheduler.models.schedule import Occurrence, Schedule
from scheduler.models.workflow import Workflow, WorkflowRun, WorkflowRunStart
from scheduler.steps.models import Step, StepEvent, StepQueue

__all__ = [
    "AlertsSeen",
    "Beat",
    "BeatLeader",
    "Calendar",
    "Minute",
    "Occurrence",
    "QueueProbe",
    "RoleMinute",
    "SavedView",
    "Schedule",
    "Step",
    "StepEvent",
    "StepQueue",
    "Workflow",
    "WorkflowRun",
    "WorkflowRunStart",
]
