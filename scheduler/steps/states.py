"""Every word that a step queue and its jobs can say, with the specification's own spelling."""

from enum import StrEnum
from typing import Final

from django.db import models

# What an attribute holds before it has been given anything.
UNINIT: Final = "UNINIT"
EMPTY_ARGS: Final = "EMPTY_ARGS"
NO_OPERATION: Final = "NO_OPERATION"
QUEUE_NOT_RUNNING: Final = "QUEUE_NOT_RUNNING"
EXPIRED_TIME: Final = 30.0

# What a link holds when it leads to no job.
UNLINK: Final = "UNLINK"
HEAD: Final = "HEAD"
TAIL: Final = "TAIL"


class QueueState(models.TextChoices):
    """EMPTY has no jobs. READY has some, and waits to be run. RUNNING walks; only then it takes no jobs."""

    EMPTY = "EMPTY"
    READY = "READY"
    RUNNING = "RUNNING"


class Direction(models.TextChoices):
    """FORWARD until a job fails, BACKWARD from there; a run starts FORWARD."""

    FORWARD = "FORWARD"
    BACKWARD = "BACKWARD"


class JobState(StrEnum):
    """What a job is before its operations have run, and the words that they append.

    NOTYET and NOLIB (it has no library) stand before a run. SUCCESS, FAILED and TIMEOUT say how the forward
    operation ended. The backward operation appends CANCELED or FAILED: "SUCCESS, CANCELED".
    """

    NOTYET = "NOTYET"
    NOLIB = "NOLIB"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    TIMEOUT = "TIMEOUT"
    CANCELED = "CANCELED"


FORWARD_ENDS: Final = (JobState.SUCCESS, JobState.FAILED, JobState.TIMEOUT)
BACKWARD_ENDS: Final = (JobState.CANCELED, JobState.FAILED)


def appended(state: str, word: JobState) -> str:
    return f"{state}, {word}"


def undo_failed(state: str) -> bool:
    """Did its backward operation fail, the last time it ran?"""
    return state.endswith(appended("", JobState.FAILED))


class StepEventType(models.TextChoices):
    """What is told of a queue, in the order in which it happened."""

    STARTED = "queue_started"
    STEP_ENDED = "step_ended"
    STEP_RETRYING = "step_retrying"
    UNDO_FAILED = "step_undo_failed"
    CANCEL_REQUESTED = "queue_cancel_requested"
    FINISHED = "queue_finished"
