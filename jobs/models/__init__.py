"""The engine's tables."""

from jobs.models.access import ApiToken, IdempotentAnswer, SocketTicket
from jobs.models.event import Event
from jobs.models.execution import Attempt, Execution
from jobs.models.job import Batch, Dependency, Job
from jobs.models.notification import Notice, NoticeCursor, Webhook
from jobs.models.office import Membership, Office
from jobs.models.worker import Counter, Worker

__all__ = [
    "ApiToken",
    "Attempt",
    "Batch",
    "Counter",
    "Dependency",
    "Event",
    "Execution",
    "IdempotentAnswer",
    "Job",
    "Membership",
    "Notice",
    "NoticeCursor",
    "Office",
    "SocketTicket",
    "Webhook",
    "Worker",
]
