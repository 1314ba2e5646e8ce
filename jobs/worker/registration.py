"""The rows of workers, and the roles that they serve: dispatch sends only what a live worker can take."""

import json
import logging
import threading
import time
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.db import DatabaseError, InterfaceError, connection

from jobs import lifecycle, publish
from jobs.sql import call, statements
from jobs.sql.catalogue import LEAVE_CATALOGUE
from jobs.worker import catalogue

log = logging.getLogger(__name__)


def register(values: Mapping[str, Any]) -> int:
    """Record a worker's heartbeat, and return how many entries of the catalogue it offers.

    If it is the first worker of a role, what waits for that role is sent.
    """
    values = {**values, "lease": settings.DURE_LEASE_SECONDS}
    ((roles, offers),) = call.rows(statements.REGISTER_WORKER, values)
    if new_roles := json.loads(roles):
        publish.send_control(lifecycle.DISPATCH_ROLES, new_roles)
    return int(offers)


def deregister(name: str) -> None:
    call.change(LEAVE_CATALOGUE, [name])
    call.rows(statements.DEREGISTER_WORKER, [name, settings.DURE_LEASE_SECONDS])


class WorkerRow:
    """The row of this worker, and its rows of the catalogue.

    The lease keeper's thread writes them, and Celery's main loop deletes them. The lock lets a writing that
    has begun end before the deletion: written after that, it would list a worker that has gone.
    """

    def __init__(self, worker: Any) -> None:
        self.worker = worker
        self.started_at = time.time()
        self.draining = False
        self.deleted = False
        self.lock = threading.Lock()
        # Its rows of the catalogue.
        self.entries: list[dict[str, str]] = []

    def write_catalogue(self) -> None:
        """Make known what this worker runs. If the database is away, the first heartbeat does so."""
        self.entries = catalogue.own_rows(self.worker.app.amqp.queues.consume_from)
        try:
            catalogue.write(self.worker.hostname, self.entries)
        except (DatabaseError, InterfaceError) as error:
            log.warning("could not write the catalogue: %s", str(error).strip())
        finally:
            connection.close()  # the main thread needs none

    def write(self, running: int) -> list[str]:
        """Record a heartbeat, unless the rows were deleted. Returns the roles that it has recorded."""
        roles = self.roles()
        values = {
            "name": self.worker.hostname,
            "roles": roles,
            "slots": self.worker.concurrency,
            "running": running,
            "draining": self.draining,
            "started_at": self.started_at,
        }
        with self.lock:
            if not self.deleted and register(values) != len(self.entries):
                catalogue.write(self.worker.hostname, self.entries)  # its rows were deleted
        return roles

    def delete(self) -> None:
        """The pool has drained, and the process is about to end."""
        with self.lock:
            self.deleted = True
            try:
                deregister(self.worker.hostname)
            except (DatabaseError, InterfaceError) as error:
                log.warning("could not deregister this worker: %s", str(error).strip())

    def roles(self) -> list[str]:
        """What it consumes; none while it is not connected."""
        consumer = getattr(self.worker, "consumer", None)
        task_consumer = getattr(consumer, "task_consumer", None)
        return sorted(q.name for q in task_consumer.queues) if task_consumer is not None else []
