"""The reasons why a job does not run: what `explain` answers."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _


class Code(StrEnum):
    DEPENDENCY_FAILED = "dependency_failed"
    DEPENDENCIES_UNFINISHED = "dependencies_unfinished"
    RETRY_BACKOFF = "retry_backoff"
    SCHEDULED = "scheduled"
    OFFICE_PAUSED = "office_paused"
    QUEUE_PAUSED = "queue_paused"
    EXCLUSIVE_RUNNING = "exclusive_running"
    RATE_LIMITED = "rate_limited"
    NO_WORKER_FOR_ROLE = "no_worker_for_role"
    NO_WORKER_FOR_TASK = "no_worker_for_task"
    OFFICE_LIMIT = "office_limit"
    ROLE_LIMIT = "role_limit"
    WAITING_FOR_WORKER = "waiting_for_worker"
    QUEUE_TIMEOUT = "queue_timeout"
    RUNNING = "running"
    NOT_RETRIED = "not_retried"


class Why(TextChoices):
    """Why a failed job is not retried."""

    FAILURE_TYPE = "failure_type", _("Another attempt would fail in the same way, so there is none.")
    OFFICE = "office", _("The office does not retry this type of failure.")
    QUEUE_TIMEOUT = "queue_timeout", _("A job that did not start in time is not retried.")
    RETRIES_USED = "retries_used", _("Its retries are used up.")
    TASK = "task", _("Its Task does not retry this failure.")


@dataclass(frozen=True)
class Reason:
    """One thing that holds a job back; `facts` are for programs, `message` for people."""

    code: Code
    message: str
    facts: dict[str, Any]
