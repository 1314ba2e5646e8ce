"""An office and its calendars: what the API answers, and what changes take."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Literal, TypedDict

from dure.record import Record


@dataclass(frozen=True, kw_only=True)
class Office(Record):
    id: str
    name: str
    role: str
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class Member(Record):
    username: str
    role: str


@dataclass(frozen=True, kw_only=True)
class OfficeConfig(Record):
    """Limits, timeouts and retries of the office's jobs; times are in milliseconds."""

    paused: bool
    max_concurrent_jobs: int
    default_timeout: int
    max_retries: int
    retry_backoff: str
    retry_base_delay: int
    max_concurrent_by_role: dict[str, int] = field(default_factory=dict)
    default_timeout_by_role: dict[str, int] = field(default_factory=dict)
    retryable_failures: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class RolePause(Record):
    since: datetime
    by: str
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class RoleQueue(Record):
    """The queue of a role, which all offices share."""

    role: str
    served: bool
    paused: RolePause | None = None


@dataclass(frozen=True, kw_only=True)
class Webhook(Record):
    id: int
    url: str
    enabled: bool
    created_at: datetime
    format: str = "dure"
    event_types: list[str] = field(default_factory=list)
    disabled_reason: str | None = None
    old_secret_until: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class WebhookWithSecret(Webhook):
    """Keep the secret: no other answer has it. Webhooks of a chat have none."""

    secret: str | None = field(default=None, repr=False)


@dataclass(frozen=True, kw_only=True)
class Delivery(Record):
    """One message to a webhook. `sent_at` says that it arrived, `gave_up_at` that it never will."""

    id: int
    event_id: int
    attempts: int
    created_at: datetime
    body: dict[str, Any] = field(default_factory=dict)
    answer: str | None = None
    next_at: datetime | None = None
    sent_at: datetime | None = None
    gave_up_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Window(Record):
    """`ends_at` is the first moment after it."""

    starts_at: datetime
    ends_at: datetime


@dataclass(frozen=True, kw_only=True)
class Calendar(Record):
    id: str
    name: str
    timezone: str
    created_at: datetime
    updated_at: datetime
    dates: list[date] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)


class ConfigChanges(TypedDict, total=False):
    """Limits, timeouts and retries of an office's jobs; times are in milliseconds."""

    paused: bool
    max_concurrent_jobs: int
    max_concurrent_by_role: Mapping[str, int | None] | None
    default_timeout: int
    default_timeout_by_role: Mapping[str, int | None] | None
    max_retries: int
    retry_backoff: Literal["linear", "exponential"]
    retry_base_delay: int
    retryable_failures: Sequence[str]
