"""The rows of workers, and the roles that they serve: dispatch sends only what a live worker can take."""

import json
from collections.abc import Mapping
from typing import Any

from django.conf import settings

from jobs import lifecycle, publish
from jobs.sql import call, catalogue, statements


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
    call.change(catalogue.LEAVE_CATALOGUE, [name])
    call.rows(statements.DEREGISTER_WORKER, [name, settings.DURE_LEASE_SECONDS])
