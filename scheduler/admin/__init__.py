"""Schedules, workflows and their runs in the admin, and django-celery-beat's own PeriodicTasks."""

from scheduler.admin import monitoring, periodic, runs, schedules, workflows
from scheduler.steps import admin as step_queues

__all__ = ["monitoring", "periodic", "runs", "schedules", "step_queues", "workflows"]
