"""The engine's tables."""

from jobs.models.access import ApiToken, IdempotentAnswer, SocketTicket
from jobs.models.activity import Activity
from jobs.models.catalogue import CatalogueEntry, CatalogueOffer, TaskLimit, TaskStart
from jobs.models.deletion import Deletion
from jobs.models.event import Event
from jobs.models.execution import Attempt, EarlyMessage, Execution
from jobs.models.identity import Identity
from jobs.models.job import Batch, Dependency, Job
from jobs.models.notification import EventCursor, Notification, Webhook
from jobs.models.office import Membership, Office
from jobs.models.run_log import RunLogChunk
from jobs.models.worker import Counter, PausedRole, ServedRole, Worker

__all__ = [
    "Activity",
    "ApiToken",
    "Attempt",
    "Batch",
    "CatalogueEntry",
    "CatalogueOffer",
    "Counter",
    "Deletion",
    "Dependency",
    "EarlyMessage",
    "Event",
    "EventCursor",
    "Execution",
    "IdempotentAnswer",
    "Identity",
    "Job",
    "Membership",
    "Notification",
    "Office",
    "PausedRole",
    "RunLogChunk",
    "ServedRole",
    "SocketTicket",
    "TaskLimit",
    "TaskStart",
    "Webhook",
    "Worker",
]
