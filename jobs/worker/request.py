"""A message in the worker's main process: sees its pool process die, and reports it."""

import time
from typing import Any

from billiard.einfo import ExceptionWithTraceback
from billiard.exceptions import WorkerLostError
from celery.exceptions import Ignore
from celery.worker.request import Request
from django.conf import settings

from jobs import publish
from jobs.log_fields import about_run
from jobs.runner import CANCELLED, DUPLICATE, FENCED, GIVEN_BACK, HELD
from jobs.subprocesses import process_tree
from jobs.worker import bursts, give_back, lease_keeper, leased_runs, stopping
from jobs.worker.lease_keeper import Report

# Flower takes the name of an event that it does not know for the state. After Celery's own `task-rejected` a
# task that has started stays STARTED for ever.
ENDS = {
    CANCELLED: "revoked",
    DUPLICATE: "duplicate",
    FENCED: "fenced",
    GIVEN_BACK: "released",
    HELD: "held",
}


class EngineRequest(Request):  # type: ignore[misc]
    engine_request = True
    # The run that this message runs now, if it is not the one that the message names.
    following: dict[str, Any] | None = None
    is_killed = False

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if settings.DURE_BURST_MS and lease_keeper.current is not None:
            self._request_dict[bursts.ROLES] = lease_keeper.current.row.roles()

    @property
    def current_run(self) -> tuple[str, int]:
        """What this message runs now, as far as the main process has heard: Execution and dispatch."""
        bursts.read(self)
        execution, dispatch = self.args if self.following is None else self.following["args"]
        return str(execution), int(dispatch)

    def follow(self, end: dict[str, Any], following: dict[str, Any]) -> None:
        """The run has ended, and another follows in the same process: see jobs/burst.py."""
        self._send_event(f"task-{end.pop('end')}", **end)
        self.following = {**following, "time_start": time.time()}
        self._send_event(
            "task-received",
            name=following["task"],
            args=publish.args_text(*following["args"]),
            kwargs="{}",
            root_id=following["args"][0],
            parent_id=None,
            retries=following["retries"],
            eta=None,
            expires=None,
        )
        self._send_event("task-started")

    def send_event(self, type: str, **fields: Any) -> None:
        if self._eventer and self._eventer.enabled:
            bursts.read(self)
            self._send_event(type, **fields)

    def _send_event(self, type: str, **fields: Any) -> None:
        """Send the event of the run that this message runs, as far as is known here."""
        if self._eventer and self._eventer.enabled and self.task.send_events:
            uuid = self.id if self.following is None else self.following["id"]
            self._eventer.send(type, uuid=uuid, **fields)

    def info(self, safe: bool = False) -> dict[str, Any]:
        """What `celery inspect active` shows."""
        bursts.read(self)
        answer: dict[str, Any] = super().info(safe)
        if self.following is not None:
            run = self.following
            answer |= {
                "id": run["id"],
                "name": run["task"],
                "type": run["task"],
                "args": publish.args_text(*run["args"]) if safe else run["args"],
                "time_start": run["time_start"],
            }
        return answer

    def on_failure(self, exc_info: Any, send_failed_event: bool = True, return_ok: bool = False) -> Any:
        error = exc_info.exception
        if isinstance(error, ExceptionWithTraceback):
            error = error.exc
        if isinstance(error, (WorkerLostError, SystemExit, KeyboardInterrupt)):
            # The exit of a process is no loss then.
            kind = Report.RELEASE if stopping.has_begun() else Report.LOST
            self.report(kind, f"The process that ran this died: {error}")
        elif isinstance(error, Ignore):
            self.send_end(str(error))
            if str(error) == GIVEN_BACK:
                self.send_again()
        with about_run(str(self.args[0])):
            return super().on_failure(exc_info, send_failed_event=send_failed_event, return_ok=return_ok)

    def send_end(self, why: str) -> None:
        """Tell Flower that a message has ended, which Celery does not do for a message that is ignored."""
        self.send_event(f"task-{ENDS.get(why, ENDS[DUPLICATE])}")

    def send_again(self) -> None:
        """The run was given back, with the next dispatch."""
        if lease_keeper.current is None:
            return
        execution, dispatch = self.current_run
        level = self.delivery_info["priority"]
        send = publish.Send(
            execution=execution,
            dispatch=dispatch + 1,
            role=self.delivery_info["routing_key"],
            task_id=self.name,
            level=publish.FAIR if level is None else level,
            retries=self.request_dict.get("retries", 0),
        )
        give_back.send_later(lease_keeper.current.worker.timer, send)

    def cancel(self, pool: Any, signal: Any = None, emit_retry: bool = True) -> Any:
        """The worker stops and has waited long enough: release this run, and kill all of its processes.

        The first call kills those of all runs, since reading which there are takes as long for one.
        """
        requests = {self, *leased_runs.active_requests()}
        answer = super().cancel(pool, signal=signal, emit_retry=emit_retry)
        running = [each for each in requests if each.worker_pid and not each.is_killed]
        if running:
            process_tree.kill_trees({each.worker_pid for each in running})
        for each in running:
            each.is_killed = True
        self.report(Report.RELEASE, "")
        return answer

    def report(self, kind: Report, message: str) -> None:
        if lease_keeper.current is not None:
            lease_keeper.current.report(kind, self.id, text=message)
