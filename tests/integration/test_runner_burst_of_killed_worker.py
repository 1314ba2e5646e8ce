"""A run that the one before has brought along survives its worker. No other worker may take it at first."""

from pathlib import Path

import pytest

from jobs import sweeps
from jobs.states import JobStatus
from tests.engine_workers import LEASE, ending_what_runs, outcomes, start, started
from tests.factories import an_office, fresh, submitted
from tests.workers import eventually

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_chain_of_a_killed_worker_goes_on_elsewhere(tmp_path, path, monkeypatch, settings):
    settings.DURE_REPUBLISH_SECONDS = 1.0
    monkeypatch.setenv("DURE_BURST_MS", "1000")
    with start(tmp_path, name="victim", control=False) as victim:
        jobs = submitted(
            an_office(max_concurrent_jobs=1),
            {"ref": "a", "task_id": "try.echo", "args": {"value": 1}},
            {"ref": "b", "task_id": "try.until", "args": {"path": path}, "depends_on": ["a"]},
            {"task_id": "try.echo", "args": {"value": 3}, "depends_on": ["b"]},
        )
        started(jobs[1])
        victim.process.kill()
        with start(tmp_path, name="heir"), ending_what_runs():
            Path(path).touch()

            def over():
                sweeps.sweep_once()
                return all(fresh(job).status == JobStatus.DONE for job in jobs)

            eventually(over, LEASE + 30, pause=0.2, what="the end of the chain")
    assert outcomes(jobs[1]) == [("lost", "worker_lost"), ("success", "")]
