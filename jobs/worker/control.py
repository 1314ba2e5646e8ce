"""The engine's commands of `celery inspect` and `celery control`.

Loaded with the Celery app, before Django is ready, since the sender of a command has to know it too. So
each command imports what it needs when it is called, in the worker's main process.
"""

import threading
from typing import Any

from celery.worker.control import control_command, inspect_command

# Registers its commands.
from jobs.worker import revoke as revoke

# Celery's loop waits for these answers, and `celery inspect` waits for one second.
LOOKUP_SECONDS = 0.7


@control_command(args=[("executions", list)], signature="EXECUTION…", visible=False)  # type: ignore[untyped-decorator]
def dure_stop(state: Any, executions: list[str], **_: Any) -> dict[str, int]:
    """Ask runs of this worker to stop, and kill them after their grace. Sent by a cancel."""
    from jobs.worker import lease_keeper, leased_runs

    if lease_keeper.current is None:
        return {"asked": 0}
    if not leased_runs.active_requests():
        return {"asked": 0}
    lease_keeper.current.report(lease_keeper.Report.STOP, *executions)
    return {"asked": len(executions)}


@control_command(signature="[-d WORKER,…]")  # type: ignore[untyped-decorator]
def dure_drain(state: Any, **_: Any) -> dict[str, str]:
    """Take nothing new and finish what runs, until dure_resume."""
    from jobs.worker import drain, lease_keeper, leased_runs

    if lease_keeper.current is None or state.consumer.task_consumer is None:
        return {"error": "not ready yet, try again"}
    drain.close(state.consumer)
    lease_keeper.current.report(lease_keeper.Report.DRAIN)
    running = len(leased_runs.active_requests())
    return {"ok": "takes nothing new" + (f", and finishes what runs: {running}" if running else "")}


@control_command(signature="[-d WORKER,…]")  # type: ignore[untyped-decorator]
def dure_resume(state: Any, **_: Any) -> dict[str, str]:
    """Take work again after dure_drain."""
    from jobs.worker import drain, lease_keeper, stopping

    if stopping.has_begun():
        return {"error": "it is being stopped"}
    if lease_keeper.current is None or state.consumer.task_consumer is None:
        return {"error": "not ready yet, try again"}
    if not drain.is_closed():
        return {"ok": "was not drained"}
    drain.reopen(state.consumer)
    lease_keeper.current.report(lease_keeper.Report.RESUME)
    return {"ok": "takes work again"}


@inspect_command()  # type: ignore[untyped-decorator]
def dure_runs(state: Any, **_: Any) -> dict[str, Any]:
    """The runs of this worker with their leases, and the roles that it serves."""
    from jobs.worker import lease_keeper, leased_runs

    if lease_keeper.current is None:
        return {"error": "not ready yet, try again"}
    row = lease_keeper.current.row
    leases = dict(lease_keeper.current.runs)
    runs = {}
    for request in leased_runs.active_requests():
        execution, dispatch = request.current_run
        lease = leases.get(request.id)
        runs[execution] = {
            "execution": execution,
            "dispatch": dispatch,
            "pid": request.worker_pid,
            "asked_to_stop": lease is not None and lease.stop_requested_at is not None,
        }
    for execution, fields in database_rows(list(runs)).items():
        runs[execution] |= fields
    return {
        "roles": row.roles(),
        "slots": row.worker.concurrency,
        "draining": row.draining,
        "runs": list(runs.values()),
    }


def database_rows(executions: list[str], timeout: float = LOOKUP_SECONDS) -> dict[str, dict[str, Any]]:
    """The database's rows of these runs; empty if it does not answer in time."""
    rows: dict[str, dict[str, Any]] = {}
    if executions:
        # Use a thread, since Celery's loop must not wait for a database that does not answer.
        lookup = threading.Thread(target=lambda: rows.update(look_up(executions)), daemon=True)
        lookup.start()
        lookup.join(timeout)
    return dict(rows)


def look_up(executions: list[str]) -> dict[str, dict[str, Any]]:
    from django.db import DatabaseError, InterfaceError, connection

    from jobs.api_model import iso_time
    from jobs.models import Execution

    try:
        return {
            str(run.id): {
                "task_id": run.task_id,
                "role": run.role,
                "trigger": run.trigger,
                "office": run.office_id and str(run.office_id),
                "job": run.job_id and str(run.job_id),
                "attempt": run.attempt,
                "since": iso_time(run.attempt_started_at),
                "deadline": iso_time(run.timeout_at),
                "lease_until": iso_time(run.locked_until),
            }
            for run in Execution.objects.filter(pk__in=executions)
        }
    except (DatabaseError, InterfaceError):
        return {}
    finally:
        connection.close()
