"""`celery inspect` and `celery control`: a worker's runs, draining and resuming."""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from celery import current_app

from jobs import redis, workers
from jobs.models import Worker
from jobs.states import Act, ExecutionStatus, JobStatus
from tests.engine_workers import ended, started
from tests.factories import a_job, a_user, an_office, fresh, heartbeat
from tests.integration.pages.clients import signed_in
from tests.workers import ROLES, environment, eventually

pytestmark = pytest.mark.django_db(transaction=True)

NAME = "engine@test"
# Polls during which the worker must not take a message.
ROUNDS = 20
LEVEL = "\x06\x16"  # kombu's sign between a queue's name and the level of its messages


def ask(command: str) -> dict[str, Any]:
    replies = current_app.control.broadcast(command, destination=[NAME], reply=True, timeout=30)
    assert len(replies) == 1, f"{command}: {replies}"
    return dict(replies[0][NAME])


def its_row() -> Worker:
    return Worker.objects.get(name=NAME)


def is_drained() -> bool:
    return Worker.objects.filter(name=NAME, draining=True).exists()


def connections_of(pid: int) -> list[dict[str, str]]:
    """The Redis clients of this process, by their ports: others share the server."""
    ports = {connection.laddr.port for connection in psutil.Process(pid).net_connections("tcp")}
    listed: list[dict[str, str]] = redis.client().client_list()
    return [client for client in listed if int(client["addr"].rpartition(":")[2]) in ports]


def is_asking_for_work(pid: int) -> bool:
    return any("b" in client["flags"] for client in connections_of(pid))


def waiting_for(role: str) -> int:
    """Messages of all levels."""
    queues = redis.client()
    return sum(queues.llen(key) for key in queues.scan_iter() if key.partition(LEVEL)[0] == role)


def takes_nothing(job: Any) -> bool:
    """The message waits while the worker is online and answers."""
    for _ in range(ROUNDS):
        ask("ping")
        if waiting_for(job.role) != 1:
            return False
    return bool(fresh(job).execution.status == ExecutionStatus.PENDING)


@pytest.fixture
def drain(worker) -> Iterator[Callable[[], dict[str, Any]]]:
    """Drains the worker; at the end it works again."""

    def draining() -> dict[str, Any]:
        answer = ask("dure_drain")
        eventually(is_drained, what="a worker that is shown as draining")
        return answer

    yield draining
    ask("dure_resume")
    eventually(lambda: not is_drained(), what="a worker that works again")


def test_a_drained_worker_finishes_its_runs_and_takes_none_until_it_is_resumed(worker, drain, path):
    running = started(a_job(an_office(), task_id="try.until", args={"path": path}, role="BE"))
    answer = drain()
    assert answer == {"ok": "takes nothing new, and finishes what runs: 1"}
    assert (its_row().running, its_row().roles.count("BE")) == (1, 1)
    waiting = a_job(an_office(), role="BE")
    # Its last read from Redis was open when it was drained: the message goes back to the queue.
    eventually(lambda: not is_asking_for_work(worker.process.pid), what="the end of its last question")
    eventually(lambda: waiting_for("BE") == 1, what="the message in its queue")
    assert takes_nothing(waiting)
    Path(path).touch()
    assert ended(running).status == JobStatus.DONE
    assert takes_nothing(waiting)
    assert ask("dure_resume") == {"ok": "takes work again"}
    assert ended(waiting).status == JobStatus.DONE


def test_a_drained_worker_stays_drained_after_it_lost_its_broker(worker, drain):
    drain()
    log = worker.process.log
    lost = log.read_text().count("Connection to broker lost")
    for connection in connections_of(worker.process.pid):
        redis.client().client_kill_filter(_id=connection["id"])
    eventually(lambda: log.read_text().count("Connection to broker lost") > lost, what="a lost connection")
    eventually(lambda: current_app.control.ping(destination=[NAME], timeout=1), what="a new connection")
    waiting = a_job(an_office(), role="FE")
    assert takes_nothing(waiting)
    assert its_row().draining
    ask("dure_resume")
    assert ended(waiting).status == JobStatus.DONE


def test_staff_drain_and_resume_a_worker_on_its_page(worker, drain, monkeypatch):
    monkeypatch.setattr(workers, "ANSWER_SECONDS", 30.0)
    staff = a_user("steve", is_staff=True)
    client = signed_in(staff)
    eventually(lambda: Worker.objects.filter(name=NAME).exists(), what="its heartbeat")
    answer = client.post(f"/workers/{NAME}/drain", follow=True)
    assert "takes nothing new" in answer.content.decode()
    eventually(is_drained, what="a worker that is shown as draining")
    waiting = a_job(an_office(), role="BE")
    assert takes_nothing(waiting)
    assert f'action="/workers/{NAME}/resume"' in client.get(f"/workers/{NAME}").content.decode()
    client.post(f"/workers/{NAME}/resume")
    assert ended(waiting).status == JobStatus.DONE
    acts = staff.activity.order_by("id").values_list("act", "details", "surface")
    assert list(acts) == [(act, {"worker": NAME}, "page") for act in (Act.WORKER_DRAINED, Act.WORKER_RESUMED)]


def test_a_queue_that_is_added_does_not_open_a_drained_worker(worker, drain):
    drain()
    eventually(lambda: not is_asking_for_work(worker.process.pid), what="the end of its last question")
    current_app.control.add_consumer("BE", destination=[NAME], reply=True, timeout=30)
    waiting = a_job(an_office(), role="BE")
    assert takes_nothing(waiting)


def test_resuming_a_worker_that_is_not_drained_changes_nothing(worker):
    assert ask("dure_resume") == {"ok": "was not drained"}
    assert ended(a_job(an_office())).status == JobStatus.DONE


def answer_with_a_row() -> dict[str, Any] | None:
    """The main process learns of a run after the database, and does not wait long for a row of it."""
    answer = ask("dure_runs")
    return answer if answer["runs"] and all("job" in run for run in answer["runs"]) else None


def test_a_workers_runs_are_listed_with_job_and_lease(worker, path):
    job = started(a_job(an_office(), task_id="try.until", args={"path": path}, role="QA"))
    answer = eventually(answer_with_a_row, what="an answer with the run's row")
    assert (answer["slots"], answer["draining"]) == (3, False)
    assert set(answer["roles"]) == set(ROLES.split(","))
    (run,) = answer["runs"]
    execution = fresh(job).execution
    assert (run["execution"], run["job"], run["office"]) == (
        str(execution.id),
        str(job.id),
        str(job.office_id),
    )
    assert (run["task_id"], run["role"], run["trigger"], run["attempt"]) == ("try.until", "QA", "JOB", 1)
    assert run["lease_until"] > run["since"]
    assert run["pid"] in worker.pool()
    assert run["asked_to_stop"] is False
    Path(path).touch()
    ended(job)
    eventually(lambda: ask("dure_runs")["runs"] == [], what="a worker that runs nothing")


def test_a_drained_worker_is_marked_on_the_overview(client):
    heartbeat("jobs@far", "FE", draining=True)
    client.force_login(a_user("mina", is_staff=True))
    page = client.get("/", headers={"accept-language": "en"}).content.decode()
    assert "jobs@far" in page
    assert "(draining)" in page


def celery(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "celery", "-A", "config", *words],
        env=environment(),
        text=True,
        capture_output=True,
        timeout=60,
    )


def test_the_command_line_lists_the_commands_and_speaks_to_one_worker(worker):
    listed = celery("control", "--list").stdout
    assert "dure_drain" in listed and "dure_resume" in listed and "dure_stop" not in listed
    assert "dure_runs" in celery("inspect", "--list").stdout
    output = celery("inspect", "-d", NAME, "-t", "30", "--json", "dure_runs")
    assert output.returncode == 0, output.stderr
    assert json.loads(output.stdout)[NAME]["slots"] == 3
