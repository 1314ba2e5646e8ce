"""The client of Dure's API: `Client` for plain code, `AsyncClient` for asyncio."""

from dure.async_client import AsyncClient
from dure.client import Client
from dure.errors import APIError, ConfigurationError, ConnectionFailed, DownloadFailed, DureError, WaitTimeout
from dure.records import (
    Batch,
    Event,
    Execution,
    Explanation,
    Export,
    Job,
    LogLine,
    Office,
    Replay,
    Schedule,
    Task,
    Workflow,
    WorkflowRun,
)

__all__ = [
    "APIError",
    "AsyncClient",
    "Batch",
    "Client",
    "ConfigurationError",
    "ConnectionFailed",
    "DownloadFailed",
    "DureError",
    "Event",
    "Execution",
    "Explanation",
    "Export",
    "Job",
    "LogLine",
    "Office",
    "Replay",
    "Schedule",
    "Task",
    "WaitTimeout",
    "Workflow",
    "WorkflowRun",
]
