"""The engine's own short tasks, on the control queue. Each does one pass of a verb; none decides anything."""

import logging
import os

from celery import shared_task, signals

from jobs import lifecycle, passwords, publish, registry, sweeps
from jobs.known_tasks import UnknownTask
from jobs.models import Execution
from jobs.notifications import creation, delivery, requests
from jobs.sql import call
from jobs.worker import control as control

# Registers the commands of `celery inspect` and `celery control` wherever a worker loads this.

log = logging.getLogger(__name__)


@signals.worker_process_init.connect  # type: ignore[untyped-decorator]
def lead_process_group(**_: object) -> None:
    """Each pool process leads a process group, so that all it starts can be killed with it."""
    os.setpgid(0, 0)


@signals.task_prerun.connect  # type: ignore[untyped-decorator]
def close_broken_connection(**_: object) -> None:
    """Connections are kept between tasks, except one that the previous task broke."""
    call.close_broken_connection()


@shared_task(name=lifecycle.RUN_ON_CANCEL, ignore_result=True)  # type: ignore[untyped-decorator]
def run_on_cancel(execution: str, *, forwarded: bool = False) -> None:
    """Call a Task's on_cancel for a run that was killed before it could do so itself.

    A worker of the control queue that does not have the Task leaves that to a worker of the run's role.
    """
    run = Execution.objects.filter(id=execution).first()
    if run is None:
        return
    try:
        on_cancel = registry.find(run.task_id).on_cancel
    except UnknownTask:
        if forwarded:
            log.warning("nobody called on_cancel of %s: no worker of %s has it", run.task_id, run.role)
        else:
            publish.send_control(lifecycle.RUN_ON_CANCEL, execution, queue=run.role, forwarded=True)
        return
    if on_cancel is not None:
        on_cancel(execution, run.args)


@shared_task(name=lifecycle.DISPATCH_ROLES, ignore_result=True)  # type: ignore[untyped-decorator]
def dispatch_roles(roles: list[str]) -> None:
    """Send what waited for the first worker of these roles."""
    lifecycle.dispatch_roles(roles)


@shared_task(name="dure.sweep", ignore_result=True)  # type: ignore[untyped-decorator]
def sweep() -> None:
    """Repair lost work: see jobs/sweeps.py."""
    sweeps.sweep_once()


@shared_task(name=requests.CREATE_NOTIFICATIONS, ignore_result=True)  # type: ignore[untyped-decorator]
def create_notifications(office: str) -> None:
    """Create the notifications of an office's new events."""
    requests.clear_debounce(office)
    creation.create_from_events(office)


@shared_task(name=requests.SEND_NOTIFICATIONS, ignore_result=True)  # type: ignore[untyped-decorator]
def send_notifications() -> None:
    """Send the notifications that are due. Not on the control queue: see jobs/notifications/delivery.py."""
    delivery.send_due()


@shared_task(name=passwords.SEND_RESET, ignore_result=True)  # type: ignore[untyped-decorator]
def send_password_reset(users: list[int], language: str) -> None:
    """Mail the links for new passwords. A mail that is lost is requested again."""
    passwords.send_reset(users, language)
