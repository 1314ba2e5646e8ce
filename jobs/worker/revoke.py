"""Celery's commands `revoke`, `terminate` and `time_limit`, for runs: they do what they say, or refuse.

A run is a row of the database, and Celery's own versions do not change it: a revoked message would be sent
again, and a killed run would start again. So both cancel the Execution, as the API does. Flower's buttons
send the same commands.

Every worker receives them and cancels: once one has, the others find that it is done and answer the same.
Loaded with the Celery app: see `control`.
"""

import re
import threading
from collections.abc import Callable, Sequence
from typing import Any

from celery.worker import control as celery_control
from celery.worker.control import control_command, nok, ok

# Celery's loop waits for the answers, and the sender waits for one second.
ANSWER_SECONDS = 0.7
ACTOR, REASON = "celery", "celery control or Flower"
# Ids of Dure are UUIDs of version 7, those of Celery of version 4.
OWN_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
TIME_LIMIT_REFUSAL = (
    "the time limit of a run is stored with it and does not change: give `timeout_ms` at the submission, "
    "in the office's configuration, or to the Task's decorator"
)

# Celery's versions, for tasks that are not Tasks of Dure.
revoke_message: Callable[..., dict[str, str]] = celery_control.revoke
set_time_limit: Callable[..., dict[str, str]] = celery_control.time_limit


@control_command(variadic="task_id", signature="[id1 [id2 [... [idN]]]]")  # type: ignore[untyped-decorator]
def revoke(
    state: Any, task_id: str | Sequence[str], terminate: bool = False, signal: str | None = None, **_: Any
) -> dict[str, str]:
    """Cancel runs by the ids of their messages, or by their own or their jobs', whether they wait or run."""
    ids = [task_id] if isinstance(task_id, str) else list(task_id)
    others = [message for message in ids if named_by(message) is None]
    runs = {message: named for message in ids if (named := named_by(message)) is not None}
    answers = []
    if others:
        # The pool processes ignore SIGTERM, and SIGKILL is what ends any of them.
        answer = revoke_message(state, others, terminate=terminate, signal="SIGKILL" if terminate else None)
        answers.append(answer)
    if runs:
        answers.append(cancel_in_time(list(dict.fromkeys(runs.values()))))
    failed = any("error" in answer for answer in answers)
    text = "; ".join(answer.get("error") or answer["ok"] for answer in answers)
    return nok(text) if failed else ok(text)  # type: ignore[no-any-return]


@control_command(  # type: ignore[untyped-decorator]
    variadic="task_id", args=[("signal", str)], signature="<signal> [id1 [id2 [... [idN]]]]"
)
def terminate(state: Any, signal: str, task_id: str | Sequence[str], **_: Any) -> dict[str, str]:
    """As revoke: a run is asked to stop, and killed after its grace, whatever the signal."""
    return revoke(state, task_id, terminate=True, signal=signal)  # type: ignore[no-any-return]


@control_command(  # type: ignore[untyped-decorator]
    args=[("task_name", str), ("soft", float), ("hard", float)],
    signature="<task_name> <soft_secs> [hard_secs]",
)
def time_limit(state: Any, task_name: str = "", **limits: Any) -> dict[str, str]:
    """Refused for Tasks, whose runs have time limits of their own."""
    from jobs.runner import EngineTask

    if isinstance(state.app.tasks.get(task_name), EngineTask):
        return nok(TIME_LIMIT_REFUSAL)  # type: ignore[no-any-return]
    return set_time_limit(state, task_name=task_name, **limits)


def named_by(id: str) -> str | None:
    """The Execution that a message names, or the job of a join; or the id itself if it is one of Dure's."""
    from jobs.publish import execution_of

    return execution_of(id) or (id if OWN_ID.fullmatch(id) else None)


def cancel_in_time(ids: Sequence[str], timeout: float = ANSWER_SECONDS) -> dict[str, str]:
    """Cancel the runs and jobs, and say of each what has become of it."""
    answers: list[dict[str, str]] = []
    # Use a thread, since Celery's loop must not wait for a database that does not answer.
    worker = threading.Thread(target=lambda: answers.append(cancel(ids)), daemon=True)
    worker.start()
    worker.join(timeout)
    return (
        answers[0] if answers else nok("the database has not answered yet, so nothing is certain: ask again")
    )


def cancel(ids: Sequence[str]) -> dict[str, str]:
    from django.db import DatabaseError, InterfaceError, connection

    from jobs import bulk
    from jobs.models import Execution, Job

    jobs, runs = Job.objects.filter(pk__in=ids), Execution.objects.filter(pk__in=ids)
    try:
        bulk.apply(jobs, bulk.Action(bulk.CANCEL, ACTOR, REASON))
        bulk.cancel_executions(runs, actor=ACTOR, reason=REASON)
        by_id: dict[str, Any] = {str(run.id): run for run in runs.all()}
        by_id |= {str(job.id): job.execution or job for job in jobs.select_related("execution")}
        return report([(id, by_id.get(id)) for id in ids])
    except (DatabaseError, InterfaceError) as error:
        return nok(f"not cancelled, the database refused: {str(error).strip()}")  # type: ignore[no-any-return]
    finally:
        connection.close()


def report(runs: Sequence[tuple[str, Any]]) -> dict[str, str]:
    from jobs.states import ExecutionStatus, JobStatus

    texts, failed = [], False
    for id, run in runs:
        if run is None:
            text = "there is no such run"
        elif run.status in (ExecutionStatus.CANCELLED, JobStatus.CANCELLED):
            text = "cancelled"
        elif run.status == ExecutionStatus.RUNNING and run.cancel_requested_at is not None:
            text = "asked to stop"
        else:
            text = f"not cancelled, it is {run.status}"
        failed = failed or text not in ("cancelled", "asked to stop")
        texts.append(f"{id}: {text}")
    return nok("; ".join(texts)) if failed else ok("; ".join(texts))  # type: ignore[no-any-return]
