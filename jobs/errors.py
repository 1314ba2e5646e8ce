"""What a Task's body raises to say how it failed, and what a verb raises when it refuses."""

from jobs.states import FailureType


class TaskFailure(Exception):
    """A run failed; the failure type decides whether it is tried again."""

    failure_type: str = FailureType.ERROR

    def __init__(self, message: str = "", failure_type: str | None = None) -> None:
        super().__init__(message or (self.__doc__ or "").splitlines()[0])
        if failure_type is not None:
            if failure_type not in FailureType.values:
                raise ValueError(f"{failure_type!r} is no failure type: {', '.join(FailureType.values)}.")
            self.failure_type = failure_type


class SessionError(TaskFailure):
    """The session that carried the work broke; a new one may succeed."""

    failure_type = FailureType.SESSION_ERROR


class GitConflict(TaskFailure):
    """Somebody has to resolve a conflict before this can succeed."""

    failure_type = FailureType.GIT_CONFLICT


class PermissionRefused(TaskFailure):
    """The work lacks a right; somebody has to check the settings."""

    failure_type = FailureType.PERMISSION_ERROR


class InvalidArgs(TaskFailure):
    """The arguments cannot be worked with; trying again would not help."""

    failure_type = FailureType.INVALID_ARGS


class Fenced(Exception):
    """This run no longer owns its Execution: another one does, or it has ended. Nothing was written."""


class Refused(Exception):
    """A verb cannot do what was asked; nothing was changed.

    `code` is the machine's word for it, `errors` says which field is to blame, `extra` goes along
    into the answer.
    """

    code = "refused"

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        errors: dict[str, list[str]] | None = None,
        **extra: object,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code or self.code
        self.errors = errors or {}
        self.extra = extra


class Invalid(Refused):
    """What was given cannot be accepted as it is (400)."""

    code = "invalid"


class TooLarge(Refused):
    """What was given is larger than a limit allows (413)."""

    code = "too_large"


class Conflict(Refused):
    """The object's state does not allow this now (409)."""

    code = "conflict"
