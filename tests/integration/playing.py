"""A run that has to exist, for tests about something else."""

from jobs.models import Job
from tests.factories import Claimed, claimed


def running(job: Job, *, worker: str = "w@test", token: str = "t") -> Claimed:
    run = claimed(job, worker=worker, token=token)
    assert run is not None, "the job was not dispatched"
    return run
