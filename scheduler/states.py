"""The states of schedules' turns, workflows and their runs, written once."""

from typing import Final

from django.db import models


class Overlap(models.TextChoices):
    """What a turn does when the schedule's previous Execution has not ended."""

    SKIP = "skip"
    ALLOW = "allow"


class OccurrenceOutcome(models.TextChoices):
    """What became of one due time of a schedule.

    RUN made an Execution. SKIPPED met one that had not ended. MISSED was nobody's to fire in time, and
    the schedule's catch-up policy let it go.
    """

    RUN = "run"
    SKIPPED = "skipped"
    MISSED = "missed"


class WorkflowStatus(models.TextChoices):
    """DRAFT and PAUSED run by hand only. ACTIVE has its next run registered."""

    DRAFT = "draft"
    ACTIVE = "active"
    PAUSED = "paused"


class RunStatus(models.TextChoices):
    """A scheduled job: PENDING waits for its time, RUNNING is a batch under way, the others are ends.

    Only a resumed run leads out of FAILED and CANCELLED, back to RUNNING.
    """

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


RUN_ENDED: Final = (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED)
RUN_RESUMABLE: Final = (RunStatus.FAILED, RunStatus.CANCELLED)
