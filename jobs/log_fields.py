"""The run that a line of a worker's own log is about: each such line names it."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from uuid import UUID

from celery import current_task

from jobs.answers import Claim
from jobs.run_logs import current

Fields = dict[str, object]

_about: ContextVar[Fields | None] = ContextVar("the run that lines are about", default=None)


@contextmanager
def about_run(execution: str, *, job: UUID | str | None = None, attempt: int = 0) -> Iterator[None]:
    """Lines in the block are about this run; what is not known is left out."""
    token = _about.set({"execution": execution, "job": job, "attempt": attempt})
    try:
        yield
    finally:
        _about.reset(token)


def current_fields() -> Fields:
    """The ids of the run that this thread works for."""
    fields = _about.get()
    if fields is None:
        log = current.log_of_this_thread()
        claim = log.claim if log is not None else _claim_of_message()
        if claim is None:
            return {}
        fields = {"execution": claim.execution_id, "job": claim.job, "attempt": claim.attempt}
    return {name: value for name, value in fields.items() if value}


def _claim_of_message() -> Claim | None:
    """The claim of the message that Celery handles here, also before and after the body."""
    run = getattr(current_task.request, "run", None) if current_task else None
    return None if run is None else run.claim
