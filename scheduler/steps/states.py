"""The states and constants of step queues and their jobs, as the v1 contract spells them."""

from enum import StrEnum
from typing import Final
from uuid import UUID

from django.db import models

from dure.step_operations import EMPTY_ARGS as EMPTY_ARGS
from dure.step_operations import NO_OPERATION as NO_OPERATION
from dure.step_operations import UNINIT as UNINIT

QUEUE_NOT_RUNNING: Final = "QUEUE_NOT_RUNNING"
EXPIRED_TIME: Final = 30.0
MAX_OPERATION_SECONDS: Final = 86_400
# With a first delay of 5 s, which doubles, the last of this many retries comes after two months.
MAX_UNDO_RETRIES: Final = 20

# The value of a link that leads to no job.
UNLINK: Final = "UNLINK"
HEAD: Final = "HEAD"
TAIL: Final = "TAIL"


class QueueState(models.TextChoices):
    """EMPTY has no jobs. READY has jobs and can be run. RUNNING accepts no jobs."""

    EMPTY = "EMPTY"
    READY = "READY"
    RUNNING = "RUNNING"


class Direction(models.TextChoices):
    """A run starts FORWARD and changes to BACKWARD when a job fails."""

    FORWARD = "FORWARD"
    BACKWARD = "BACKWARD"


class JobState(StrEnum):
    """The parts of a job's state.

    NOTYET and NOLIB (the job has no library) are the states before a run. SUCCESS, FAILED and TIMEOUT say
    how the forward operation ended. Each backward operation appends CANCELED or FAILED: "SUCCESS, CANCELED".
    """

    NOTYET = "NOTYET"
    NOLIB = "NOLIB"
    SUCCESS = "SUCCESS"
    FAILED = "FAILED"
    TIMEOUT = "TIMEOUT"
    CANCELED = "CANCELED"


def append_state(state: str, part: JobState) -> str:
    return f"{state}, {part}"


def rollback_failed(state: str) -> bool:
    """Did the job's backward operation fail the last time it ran?"""
    return state.endswith(append_state("", JobState.FAILED))


def operation_source(queue_id: int | None, job_id: UUID | str, direction: str) -> str:
    """The `source` of an operation's Execution."""
    return f"{queue_id}:{job_id}:{direction}"


class StepEventType(models.TextChoices):
    """The events of a queue, in the order of a run."""

    STARTED = "queue_started"
    RESUMED = "queue_resumed"
    STEP_ENDED = "step_ended"
    STEP_RETRYING = "step_retrying"
    UNDO_FAILED = "step_undo_failed"
    CANCEL_REQUESTED = "queue_cancel_requested"
    FINISHED = "queue_finished"
