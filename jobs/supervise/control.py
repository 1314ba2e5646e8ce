"""What the engine adds to `celery inspect` and `celery control`."""

from typing import Any

from celery.worker.control import control_command, inspect_command

from jobs.supervise import heart


@control_command(args=[("executions", list)], signature="EXECUTION…")  # type: ignore[untyped-decorator]
def dure_stop(state: Any, executions: list[str], **_: Any) -> dict[str, int]:
    """Ask runs of this worker to stop, and kill them after their grace."""
    if heart.current is None:
        return {"asked": 0}
    mine = {str(request.args[0]) for request in heart.active_requests()}
    stopping = mine.intersection(executions)
    for execution in stopping:
        heart.current.report(heart.STOP, execution, 0)
    return {"asked": len(stopping)}


@inspect_command()  # type: ignore[untyped-decorator]
def dure_leases(state: Any, **_: Any) -> list[dict[str, Any]]:
    """The runs whose leases this worker renews."""
    if heart.current is None:
        return []
    now = heart.boot_time()
    return [
        {
            "execution": held.execution,
            "dispatch": held.dispatch,
            "pid": held.pid,
            "confirmed_seconds_ago": round(now - held.confirmed, 1),
            "asked_to_stop": held.told_at is not None,
        }
        for held in list(heart.current.held.values())
    ]
