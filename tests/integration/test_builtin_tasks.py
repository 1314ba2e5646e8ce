"""A worker executes the built-in tasks."""

import os
import shlex
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dure.failures import FailureType
from jobs import lifecycle
from jobs.models import Execution, Job, Office
from jobs.states import JOB_ENDED, JobStatus
from tests import workers
from tests.engine_workers import ending_what_runs
from tests.factories import a_job, an_office, fresh
from tests.unit.process_tools import processes_with_mark
from tests.unit.stub_server import OK, stub

pytestmark = pytest.mark.django_db(transaction=True)

IGNORES_SIGTERM = (
    "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(300)"
)


@pytest.fixture(scope="module")
def worker(django_db_setup, django_db_blocker, tmp_path_factory) -> Iterator[workers.Process]:
    """A worker for the whole file, which may connect to loopback and run a shell."""
    env = {"DURE_HTTP_ALLOW": "127.0.0.0/8", "DURE_COMMANDS": "sh,cat"}
    with django_db_blocker.unblock(), workers.running(tmp_path_factory.mktemp("worker"), env=env) as process:
        yield process


@pytest.fixture
def office(worker) -> Iterator[Office]:
    with ending_what_runs():
        yield an_office(max_concurrent_jobs=10)


def ended(job: Job) -> Job:
    def look():
        lifecycle.send_due()  # there is no beat here
        return fresh(job).status in JOB_ENDED

    workers.eventually(look, what=f"the end of {job.task_id}")
    return fresh(job)


def run(office: Office, task_id: str, args: dict[str, Any], **fields) -> Job:
    return ended(a_job(office, task_id=task_id, args=args, **fields))


def execution(job: Job) -> Execution:
    assert job.execution is not None
    return job.execution


def result(job: Job):
    assert job.status == JobStatus.DONE, job.error_message
    return execution(job).result


def stubborn_tree(mark: str) -> dict[str, Any]:
    program = f"{sys.executable} -c {shlex.quote(IGNORES_SIGTERM)} {mark}"
    return {"command": "sh", "args": ["-c", f"trap '' TERM; setsid {program} & setsid -f {program}; wait"]}


def started(mark: str) -> None:
    workers.eventually(lambda: len(processes_with_mark(mark)) >= 3, what="the command and its children")


def assert_no_process(mark: str) -> None:
    workers.eventually(lambda: not processes_with_mark(mark), what="the end of all processes of the command")


def test_the_sum_and_sleep_tasks_succeed(office):
    assert result(run(office, "demo.sum", {"numbers": [1, 2, 3.5]})) == 6.5
    assert result(run(office, "demo.sleep", {"seconds": 0.01})) == {"slept": 0.01}


def test_a_request_is_retried_with_the_same_idempotency_key(office):
    answers = iter([b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", OK])
    with stub(lambda connection, _: connection.sendall(next(answers))) as server:
        args = {"method": "POST", "url": f"http://127.0.0.1:{server.port}/hook", "body": {"a": 1}}
        job = run(office, "http.request", args, max_retries=3, retry_base_delay=10)
    assert result(job)["status"] == 200
    keys = [
        line for request in server.requests for line in request.split(b"\r\n") if line.startswith(b"Idempot")
    ]
    assert len(keys) == 2
    assert keys[0] == keys[1] == f"Idempotency-Key: {execution(job).id}".encode()


def test_a_command_runs_in_a_named_session_without_secrets(office):
    job = run(office, "command.run", {"command": "cat", "args": ["/proc/self/environ"]})
    output = result(job)["output_tail"]
    assert f"DURE_EXECUTION_ID={execution(job).id}" in output
    for name in ("DATABASE_URL", "REDIS_URL", "SECRET", "PYTHONPATH", "DJANGO_SETTINGS_MODULE"):
        assert name not in output
    assert execution(job).session_id.startswith("cmd-")


def test_any_output_of_a_command_can_be_stored(office):
    script = r"printf '\0\377\\u0000 \033[31m' ; head -c 100000 /dev/urandom"
    assert result(run(office, "command.run", {"command": "sh", "args": ["-c", script]}))["exit_code"] == 0
    script = r"""printf '%s' '{"a": "\u0000 \ud800"}'"""
    job = run(office, "command.run", {"command": "sh", "args": ["-c", script]})
    assert result(job)["output_tail"] == r'{"a": "\u0000 \ud800"}'


def test_a_cancelled_command_leaves_no_process(office, mark):
    job = a_job(office, task_id="command.run", args=stubborn_tree(mark))
    started(mark)
    lifecycle.cancel(office.id, [job.id], actor="test")
    assert ended(job).status == JobStatus.CANCELLED
    assert_no_process(mark)


def test_a_command_out_of_time_leaves_no_process(office, mark):
    job = a_job(office, task_id="command.run", args=stubborn_tree(mark), timeout_ms=1_500, max_retries=0)
    started(mark)
    job = ended(job)
    assert (job.status, job.failure_type) == (JobStatus.FAILED, FailureType.TIMEOUT)
    assert_no_process(mark)


def test_a_killed_pool_process_leaves_no_process_of_its_command(office, worker, mark):
    script = f"echo $$; {stubborn_tree(mark)['args'][1]}"
    job = a_job(office, task_id="command.run", args={"command": "sh", "args": ["-c", script]}, max_retries=0)
    started(mark)
    supervisor = int(execution(fresh(job)).session_id.rpartition("-")[2])
    pool = int(Path(f"/proc/{supervisor}/stat").read_text().rpartition(") ")[2].split()[1])
    before = processes_with_mark(mark)
    assert pool in worker.children()
    os.kill(pool, signal.SIGKILL)
    workers.eventually(
        lambda: not before & processes_with_mark(mark), what="the end of the first run's processes"
    )
    lifecycle.cancel(office.id, [job.id], actor="test")
    ended(job)
    assert_no_process(mark)
