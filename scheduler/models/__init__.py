"""What is stored about time: schedules and workflows. The verbs in lifecycle.py change it."""

from scheduler.models.monitoring import Canary, Minute
from scheduler.models.schedule import Occurrence, Schedule
from scheduler.models.workflow import RunHistory, ScheduledJob, Workflow
from scheduler.steps.models import Step, StepEvent, StepQueue

__all__ = [
    "Canary",
    "Minute",
    "Occurrence",
    "RunHistory",
    "Schedule",
    "ScheduledJob",
    "Step",
    "StepEvent",
    "StepQueue",
    "Workflow",
]
