"""A Task with limits, as a worker registers it, and its jobs and runs."""

import pytest

from jobs import catalogue
from jobs.catalogue import Registration
from jobs.errors import Held
from jobs.sql import call
from jobs.worker.catalogue import row_of, write
from tests.factories import claimed_start, fresh, submitted

TASK = "shop.pack"
SCHEMA = {"type": "object", "properties": {}, "additionalProperties": False}


def register(worker="w@test", **values):
    """As a worker that has the Task does at its start."""
    values = {"task_id": TASK, "schema": SCHEMA, **values}
    write(worker, [row_of(Registration(catalogue.TASK, TASK, "shop.tasks", values))])
    catalogue.forget()


def packs(office, *jobs):
    return submitted(office, *({"task_id": TASK, "args": {}, **job} for job in jobs or ({},)))


def held(*jobs):
    return [fresh(job).held for job in jobs]


def let_pass(seconds):
    """Lets so much time pass since all starts."""
    call.change("UPDATE task_starts SET at = at - %s * interval '1 second'", [seconds])


def assert_held(execution, dispatch=1):
    with pytest.raises(Held):
        claimed_start(execution, dispatch)
