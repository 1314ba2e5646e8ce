"""Connects step queues with the engine, once all models are loaded."""

from jobs import lifecycle as engine
from jobs.api.framework import metrics
from jobs.states import Trigger

# Registers the Tasks.
from scheduler.steps import lifecycle, tasks
from scheduler.steps.metrics import collect

__all__ = ["connect", "tasks"]


def connect() -> None:
    engine.on_end(Trigger.STEP, lifecycle.advance)
    metrics.register("step_queues", collect)
