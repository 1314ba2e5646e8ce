"""Schedules, workflows and their runs in the admin, and django-celery-beat's own PeriodicTasks."""

from scheduler.admin import periodic, runs, schedules, watch, workflows
from scheduler.step_queues import admin as step_queues

__all__ = ["periodic", "runs", "schedules", "step_queues", "watch", "workflows"]
