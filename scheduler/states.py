"""The states of occurrences, workflows and their runs."""

from typing import Final

from django.db import models


class Overlap(models.TextChoices):
    """The policy of a scheduled run if the schedule's previous Execution is live."""

    SKIP = "skip"
    ALLOW = "allow"


class OccurrenceOutcome(models.TextChoices):
    """The outcome of one due time of a schedule.

    RUN started an Execution. SKIPPED was due during a live one. MISSED was not fired in time, and the
    catch-up policy did not run it.
    """

    RUN = "run"
    SKIPPED = "skipped"
    MISSED = "missed"


class WorkflowStatus(models.TextChoices):
    """DRAFT and PAUSED run by hand only. ACTIVE has a pending run."""

    DRAFT = "draft"
    ACTIVE = "active"
    PAUSED = "paused"


class RunStatus(models.TextChoices):
    """A workflow run: PENDING waits for its time, RUNNING has a batch in progress, the others have ended.

    Only a resumed run leads out of FAILED and CANCELLED, back to RUNNING.
    """

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


RUN_ENDED: Final = (RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED)
RUN_RESUMABLE: Final = (RunStatus.FAILED, RunStatus.CANCELLED)
