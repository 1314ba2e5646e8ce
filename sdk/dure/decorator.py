"""The decorator that makes a function a Task."""

import inspect
from collections.abc import Callable
from typing import Any, Concatenate, Literal, TypeVar

from dure import definitions

Body = TypeVar("Body", bound=Callable[Concatenate[Any, ...], Any])


def task(
    task_id: str,
    *,
    role: str = "default",
    timeout: float | None = None,
    max_retries: int | None = None,
    retry_backoff: float | None = None,
    retry_backoff_max: float = 3600,
    retry_jitter: bool = False,
    autoretry_for: tuple[type[BaseException], ...] = (Exception,),
    on_lost: Literal["retry", "fail"] = "retry",
    atomic: bool = False,
    on_cancel: Callable[[str, dict[str, Any]], None] | None = None,
    public: bool = True,
    exclusive: bool = False,
    rate_limit: str | None = None,
) -> Callable[[Body], Body]:
    """Register a function as a Task. The function stays as it is, so that a test can call it.

        @task("reports.build", timeout=900, max_retries=5)
        def build_report(ctx: Context, day: date, format: Literal["pdf", "csv"] = "pdf") -> str:
            '''Builds the report of a day.'''

    The first parameter is the context. The type hints of the others are the schema of the arguments, and the
    docstring is the description. The result is what `json.dumps` accepts.

    `task_id`: the permanent name, to which jobs and schedules refer.
    `role`: the queue whose workers run it.
    `timeout`: seconds for one attempt; the office's by default.
    `max_retries`: retries after the first attempt; the office's by default.
    `retry_backoff`: seconds before the first retry; each later retry waits longer.
    `retry_backoff_max`: the longest wait before a retry, in seconds.
    `retry_jitter`: wait a random time between half of the delay and all of it.
    `autoretry_for`: which exceptions are retried at all.
    `on_lost`: `"fail"` never starts the body again after its worker died in the middle.
    `atomic`: what the body writes to Dure's database commits together with its result, or not at all.
    `on_cancel`: called with the Execution's id and the arguments when a cancel has stopped a run.
    `public`: False hides the Task from clients; only the system starts it.
    `exclusive`: one run at a time for each office, and for each user whose runs belong to no office.
    `rate_limit`: at most so many starts in any second (s), minute (m), hour (h) or day (d), such as `"10/m"`,
    over all workers and offices; each attempt is a start.
    """

    def register(function: Body) -> Body:
        definitions.register(
            definitions.Definition(
                task_id=task_id,
                function=function,
                role=role,
                description=inspect.getdoc(function) or "",
                args_model=definitions.build_args_model(function),
                timeout=timeout,
                max_retries=max_retries,
                retry_backoff=retry_backoff,
                retry_backoff_max=retry_backoff_max,
                retry_jitter=retry_jitter,
                autoretry_for=autoretry_for,
                on_lost=on_lost,
                atomic=atomic,
                on_cancel=on_cancel,
                public=public,
                exclusive=exclusive,
                rate_limit=rate_limit,
            )
        )
        return function

    return register
