"""What every process knows of a Task: all but its function.

A worker writes it into the catalogue, and other processes read it there.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Self

from django.conf import settings

from jobs.errors import ArgsRefused, CodedError, ErrorText, FieldErrors, TooLarge
from jobs.json_schema import Schema
from jobs.sql import call
from jobs.states import OnLost


class UnknownTask(CodedError, LookupError):
    """No worker has registered a Task of that name."""

    def __init__(self, task_id: str) -> None:
        super().__init__("unknown_task", task=task_id)


@dataclass(frozen=True, kw_only=True, eq=False)
class KnownTask:
    """A Task as its author declared it. The fields are what a worker writes into the catalogue."""

    task_id: str
    role: str = "default"
    description: str = ""
    # The JSON Schema of the arguments.
    schema: Mapping[str, Any]
    timeout: float | None = None  # seconds; None leaves it to the office
    max_retries: int | None = None
    retry_backoff: float | None = None  # Celery's word for the base of the delay, in seconds
    retry_backoff_max: float = 3600
    retry_jitter: bool = False
    on_lost: str = OnLost.RETRY
    atomic: bool = False
    public: bool = True
    exclusive: bool = False  # one run at a time for each owner
    rate_limit: str | None = None  # such as 10/m: starts in any minute

    @classmethod
    def read(cls, values: Mapping[str, Any]) -> Self:
        """Reads what `values` wrote, of this release or of another one, whose further fields are left out."""
        names = {each.name for each in fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in names})

    def values(self) -> dict[str, Any]:
        return {each.name: getattr(self, each.name) for each in fields(KnownTask)}

    @property
    def timeout_ms(self) -> int | None:
        return None if self.timeout is None else int(self.timeout * 1000)

    @property
    def retry_base_delay_ms(self) -> int | None:
        return None if self.retry_backoff is None else int(self.retry_backoff * 1000)

    @property
    def summary(self) -> str:
        """The first paragraph of the description."""
        return " ".join(self.description.partition("\n\n")[0].split())

    @cached_property
    def _args(self) -> Schema:
        return Schema(self.schema, unknown="unknown_argument")

    def argument_errors(self, args: Mapping[str, Any], unchecked: Collection[str] = ()) -> FieldErrors:
        """What does not fit, by the path of the value.

        `unchecked` are arguments whose values are known later; they must exist all the same.
        """
        later = self.schema.get("properties", {}).keys() & set(unchecked)
        return {
            path: texts
            for path, texts in self._args.errors(args).items()
            if path.partition(".")[0] not in later
        }

    def check_args(self, args: Mapping[str, Any], unchecked: Collection[str] = ()) -> None:
        """Raises ArgsRefused, naming each argument that does not fit."""
        if errors := in_fields(self.argument_errors(args, unchecked)):
            raise ArgsRefused(errors)


def check_size(args: Mapping[str, Any], field: str) -> None:
    """Raises TooLarge for arguments with more bytes as JSON than a job may have."""
    limit = settings.DURE_MAX_ARGS_BYTES
    # Only what can be large is measured exactly.
    if len(str(args)) > limit // 4 and (size := len(call.as_json(args).encode())) > limit:
        raise TooLarge("args_too_large", field=field, size=size, limit=limit)


def in_fields(errors: FieldErrors) -> list[ErrorText]:
    """The errors of arguments as one list, each with the name of its argument."""
    return [
        ErrorText("in_field", field=name or "args", text=text)
        for name, texts in errors.items()
        for text in texts
    ]
