"""For authors: `task` and `Context` write a Task, `operation` and `StepRun` a step queue's operation.

For users: `Client` and `AsyncClient` call the API.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from dure.context import Context
from dure.decorator import task
from dure.errors import APIError, ConfigurationError, ConnectionFailed, DownloadFailed, DureError, WaitTimeout
from dure.failures import (
    FailureType,
    GitConflict,
    InvalidArgs,
    PermissionRefused,
    SessionError,
    Stopped,
    TaskFailure,
)
from dure.job_records import Batch, Explanation, Job
from dure.office_records import (
    Calendar,
    Delivery,
    Member,
    Office,
    OfficeConfig,
    RolePause,
    RoleQueue,
    Webhook,
    WebhookWithSecret,
    Window,
)
from dure.records import Event, Execution, Export, ExportLink, LogLine, Replay, Task
from dure.schedule_records import Schedule, Turn, Workflow, WorkflowRun
from dure.step_operations import operation
from dure.step_records import (
    NewStepQueue,
    Operation,
    OperationLibrary,
    Step,
    StepErrors,
    StepQueue,
    StepQueueCheck,
    StepQueueEvent,
)
from dure.step_run import StepRun

if TYPE_CHECKING:
    from dure.async_client import AsyncClient
    from dure.client import Client

__all__ = [
    "APIError",
    "AsyncClient",
    "Batch",
    "Calendar",
    "Client",
    "ConfigurationError",
    "ConnectionFailed",
    "Context",
    "Delivery",
    "DownloadFailed",
    "DureError",
    "Event",
    "Execution",
    "Explanation",
    "Export",
    "ExportLink",
    "FailureType",
    "GitConflict",
    "InvalidArgs",
    "Job",
    "LogLine",
    "Member",
    "NewStepQueue",
    "Office",
    "OfficeConfig",
    "Operation",
    "OperationLibrary",
    "PermissionRefused",
    "Replay",
    "RolePause",
    "RoleQueue",
    "Schedule",
    "SessionError",
    "Step",
    "StepErrors",
    "StepQueue",
    "StepQueueCheck",
    "StepQueueEvent",
    "StepRun",
    "Stopped",
    "Task",
    "TaskFailure",
    "Turn",
    "WaitTimeout",
    "Webhook",
    "WebhookWithSecret",
    "Window",
    "Workflow",
    "WorkflowRun",
    "operation",
    "task",
]

_CLIENTS = {"AsyncClient": "dure.async_client", "Client": "dure.client"}


def __getattr__(name: str) -> Any:
    """The clients are imported when they are used: a worker, which runs Tasks, needs no `httpx`."""
    if name not in _CLIENTS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_CLIENTS[name]), name)
