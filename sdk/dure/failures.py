"""The exceptions of Task bodies. Their class decides whether Dure retries the run."""

from enum import StrEnum

from pydantic import ValidationError


class FailureType(StrEnum):
    """The type of a failure. The engine alone sets those that say what happened to a run from outside."""

    TIMEOUT = "timeout"
    SESSION_ERROR = "session_error"
    WORKER_LOST = "worker_lost"
    ERROR = "error"
    GIT_CONFLICT = "git_conflict"
    PERMISSION_ERROR = "permission_error"
    DEPENDENCY_FAILED = "dependency_failed"
    INVALID_ARGS = "invalid_args"
    CANCELLED = "cancelled"
    POISON = "poison"


RETRYABLE = (FailureType.TIMEOUT, FailureType.SESSION_ERROR, FailureType.WORKER_LOST, FailureType.ERROR)


# The error of a run that exceeded its time limit, whether it stopped by itself or had to be killed.
TIMED_OUT = "Job execution timed out"


class TaskFailure(Exception):
    """A run failed; the failure type decides whether it is retried."""

    failure_type: str = FailureType.ERROR

    def __init__(self, message: str = "", failure_type: str | None = None) -> None:
        super().__init__(message or (self.__doc__ or "").splitlines()[0])
        if failure_type is not None:
            if failure_type not in tuple(FailureType):
                raise ValueError(f"{failure_type!r} is not a failure type: {', '.join(FailureType)}.")
            self.failure_type = failure_type


class SessionError(TaskFailure):
    """The session broke; a new one may succeed."""

    failure_type = FailureType.SESSION_ERROR


class GitConflict(TaskFailure):
    """A conflict must be resolved before this can succeed."""

    failure_type = FailureType.GIT_CONFLICT


class PermissionRefused(TaskFailure):
    """A permission is missing; check the settings."""

    failure_type = FailureType.PERMISSION_ERROR


class InvalidArgs(TaskFailure):
    """The arguments are not valid; another attempt would fail too."""

    failure_type = FailureType.INVALID_ARGS


class Stopped(Exception):
    """Dure raises this in a body on a timeout and on a cancel. Clean up in `finally`, and let it pass."""


def classify(error: BaseException) -> str:
    """The failure type of what a body raised."""
    if isinstance(error, TaskFailure):
        return error.failure_type
    if isinstance(error, Stopped):
        return FailureType.TIMEOUT
    if isinstance(error, ValidationError):
        return FailureType.INVALID_ARGS
    return FailureType.ERROR


def describe(error: BaseException) -> str:
    """The message of a failure, as users see it."""
    if isinstance(error, Stopped):
        return TIMED_OUT
    if isinstance(error, TaskFailure):
        return str(error)
    if isinstance(error, ValidationError):
        problems = error.errors(include_url=False, include_input=False)
        return "; ".join(f"{'.'.join(map(str, each['loc'])) or 'args'}: {each['msg']}" for each in problems)
    return f"{type(error).__name__}: {error}"
