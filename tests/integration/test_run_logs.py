"""What a run logs and prints, on a real worker."""

import os
import re
import signal
from pathlib import Path

import pytest
from django.conf import settings

from jobs import deadline
from jobs.models import RunLogChunk
from jobs.run_logs.lines import STDERR, STDOUT, Line, attempt_of, decode
from jobs.states import JobStatus
from tests.engine_workers import SLOTS, ended, lines
from tests.factories import a_job, an_office, fresh
from tests.workers import eventually

pytestmark = pytest.mark.django_db(transaction=True)


def log_of(job) -> list[tuple[int, Line]]:
    """The lines of the job's run, with the attempt of each."""
    chunks = RunLogChunk.objects.filter(execution_id=str(fresh(job).execution_id)).order_by("seq")
    return [(attempt_of(chunk.seq), line) for chunk in chunks for line in decode(chunk.lines)]


def messages_of(job, *streams: str) -> list[str]:
    return [line.message for _, line in log_of(job) if not streams or line.stream in streams]


def say(**args):
    return a_job(an_office(), task_id="try.say", args=args, max_retries=0)


def test_a_run_keeps_what_it_logs_and_prints(worker):
    job = ended(say(printed="두레\n\nnext", logged="careful", program="printf 'o\\000ut\\npartial'"))
    (attempt, first), *_ = log_of(job)
    assert (attempt, first.stream, first.logger, first.message) == (1, STDOUT, "", "두레")
    assert messages_of(job, STDOUT) == ["두레", "", "next", "o\ufffdut", "partial"]
    assert messages_of(job, STDERR) == ["두레", "", "next"]
    logged = [(line.level, line.logger, line.message) for _, line in log_of(job) if line.stream == "log"]
    assert logged == [(30, "dure.task.try.say", "careful"), (20, "library", "from a library")]


def test_a_program_may_open_its_stderr_by_name_and_print_garbage(worker):
    job = ended(say(program="printf '\\377\\376x\\n'; echo one >/dev/stderr; echo two >/dev/stderr"))
    assert "\ufffd\ufffdx" in messages_of(job, STDOUT)
    assert [message for message in messages_of(job, STDERR) if message] == ["one", "two"]


def test_a_silent_run_writes_nothing(worker):
    job = ended(a_job(an_office(), task_id="try.echo", args={}))
    assert log_of(job) == []


def test_lines_are_there_while_the_run_goes_on_and_stay_when_it_is_killed(worker, path):
    job = say(printed="before the end", program=f"echo $PPID > {path}", seconds=600)
    eventually(lambda: "before the end" in messages_of(job), what="a line of a running job")
    (pid,) = eventually(lambda: lines(path), what="the process of the run")
    os.kill(int(pid), signal.SIGKILL)
    eventually(lambda: [number for number, _ in log_of(job)][-1:] == [2], what="the log of the next attempt")
    assert [
        number for number, line in log_of(job) if line.message == "before the end" and line.stream == STDOUT
    ] == [1, 2]


def test_the_log_of_an_atomic_run_outlives_its_rollback(worker):
    job = ended(a_job(an_office(), task_id="try.say_atomically", args={"text": "not undone"}, max_retries=0))
    assert job.status == JobStatus.FAILED
    assert messages_of(job) == ["not undone"]


def test_secrets_are_masked(worker):
    text = "the key is k3y-of-alice; password=hunter2"
    job = ended(say(printed=text, logged=text, api_key="k3y-of-alice"))
    assert messages_of(job, STDOUT) == ["the key is ***; password=***"]
    assert "the key is ***; password=***" in messages_of(job, "log")
    job = ended(say(logged="only the key k3y-of-alice", api_key="k3y-of-alice"))
    assert "only the key ***" in messages_of(job, "log")


@pytest.mark.parametrize("way", ["close", "replace", "logging", "close_descriptor", "fork", "thread"])
def test_a_body_that_treats_its_streams_badly_harms_no_later_run(worker, way):
    ended(a_job(an_office(), task_id="try.mistreat_streams", args={"way": way}))
    later = ended(say(printed="after it", logged="and logged", program="echo and this"))
    assert messages_of(later, STDOUT) == ["after it", "and this"]
    assert "and logged" in messages_of(later, "log")


def test_a_fork_of_the_body_prints_into_its_log(worker):
    job = ended(a_job(an_office(), task_id="try.mistreat_streams", args={"way": "fork"}))
    assert sorted(messages_of(job)) == ["from the fork", "from the parent"]


def test_a_thread_that_outlives_its_run_writes_into_no_other_log(worker, path):
    first = a_job(an_office(), task_id="try.mistreat_streams", args={"way": "thread", "path": path})
    ended(first)
    # All processes of the worker run something while the threads of the first run print.
    office = an_office()
    others = [a_job(office, task_id="try.until_logged", args={"path": path}) for _ in range(3)]
    for other in others:
        ended(other)
    assert all(messages_of(other) == [] for other in others)


def test_the_end_of_a_long_log_is_kept_with_its_numbers(worker):
    job = ended(a_job(an_office(), task_id="try.chatter", args={"lines": 40_000, "text": "x" * 50}))
    kept = messages_of(job, STDOUT)
    assert kept[-1] == "39999 " + "x" * 50
    assert sum(map(len, kept)) <= settings.DURE_RUN_LOG_BYTES
    assert sum(map(len, kept)) > settings.DURE_RUN_LOG_BYTES / 2
    last = RunLogChunk.objects.filter(execution_id=str(job.execution_id)).latest("seq")
    assert last.seq == 1_000_040_000


def test_every_line_of_a_worker_about_a_run_names_it(worker):
    logged = ended(say(logged="look for me"))
    failed = ended(a_job(an_office(), task_id="try.picky", args={"kind": "KeyError"}))

    def is_logged(text, job):
        ids = f"execution={job.execution_id} job={job.id} attempt=1"
        return any(text in line and ids in line for line in worker.process.log.read_text().splitlines())

    # Celery logs a failure after its end has been written.
    eventually(lambda: is_logged("look for me", logged) and is_logged("KeyError", failed), what="both lines")


def test_the_threads_of_a_pool_process_leave_its_signals_to_the_main_thread(worker, path):
    office, args = an_office(), {"program": f"echo started; until [ -e {path} ]; do sleep 0.1; done"}
    jobs = [a_job(office, task_id="try.say", args=args, max_retries=0) for _ in range(SLOTS)]
    # Each process runs one of them. One of its threads reads what the program prints, and another writes it.
    eventually(lambda: all("started" in messages_of(job) for job in jobs), what="a line of each process")
    expected = sum(1 << (number - 1) for number in deadline.SIGNALS)
    for pid in worker.pool():
        others = [task for task in Path(f"/proc/{pid}/task").iterdir() if task.name != str(pid)]
        assert others, "each has a thread that reads what programs print"
        for task in others:
            (blocked,) = re.findall(r"^SigBlk:\s+(\w+)", (task / "status").read_text(), re.MULTILINE)
            assert int(blocked, 16) & expected == expected, (task / "comm").read_text()
    Path(path).touch()
    for job in jobs:
        ended(job)
