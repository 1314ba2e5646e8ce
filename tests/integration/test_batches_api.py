"""Batches over HTTP: progress, graph and estimated end."""

from datetime import datetime, timedelta

import pytest

from jobs.models import Office
from jobs.sql import call
from tests.factories import a_user, an_office, done, running, submitted
from tests.integration.rest_support import client_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("fresh_counts")]

DIAMOND = (
    {"ref": "a"},
    {"ref": "b", "depends_on": ["a"]},
    {"ref": "c", "depends_on": ["a"], "task_id": "demo.sleep", "args": {"seconds": 1}},
    {"ref": "d", "depends_on": ["b", "c"]},
)


@pytest.fixture
def office():
    return an_office(a_user("alice"), max_concurrent_jobs=2)


@pytest.fixture
def client(office):
    return client_of(a_user("alice"))


def at(office: Office, rest: str = "") -> str:
    return f"/api/offices/{office.id}/batches{rest}"


def took(job, seconds: float) -> None:
    """Sets the run time of a job."""
    ago = "%s * interval '1 second'"
    call.change(f"UPDATE job_queue SET started_at = completed_at - {ago} WHERE id = %s", [seconds, job.id])
    call.change(
        f"UPDATE job_executions SET attempt_started_at = finished_at - {ago} WHERE job_id = %s",
        [seconds, job.id],
    )


def test_the_list_of_batches_shows_their_progress(client, office):
    first = submitted(office, {}, {}, name="first")
    submitted(office, {}, name="second")
    done(first[0])
    result = client.get(at(office)).json()["results"]
    assert [item["name"] for item in result] == ["second", "first"]
    assert list(result[1]) == ["id", "name", "created_at", "ended_at", "progress"]
    assert result[1]["progress"]["total"] == 2
    assert result[1]["progress"]["percent"] == 50
    assert result[1]["progress"]["by_status"]["done"] == 1
    done(first[1])
    ended = client.get(at(office)).json()["results"][1]
    assert ended["progress"]["percent"] == 100
    assert ended["ended_at"] is not None


def test_a_batch_shows_its_graph(client, office):
    a, b, c, d = submitted(office, *DIAMOND, name="diamond")
    result = client.get(at(office, f"/{a.batch_id}")).json()
    assert [(node["ref"], node["level"]) for node in result["graph"]["nodes"]] == [
        *(("a", 0), ("b", 1), ("c", 1), ("d", 2))
    ]
    edges = {(edge["from"], edge["to"]) for edge in result["graph"]["edges"]}
    ids = [str(job.id) for job in (a, b, c, d)]
    assert edges == {(ids[0], ids[1]), (ids[0], ids[2]), (ids[1], ids[3]), (ids[2], ids[3])}
    without = client.get(at(office, f"/{a.batch_id}?graph=false")).json()
    assert without == {name: value for name, value in result.items() if name != "graph"}


def test_the_critical_path_uses_actual_and_usual_run_times(client, office):
    (sleeper,) = submitted(office, {"task_id": "demo.sleep", "args": {"seconds": 1}})
    done(sleeper)
    took(sleeper, 100)
    a, _, c, d = submitted(office, *DIAMOND, name="diamond")
    done(a)
    took(a, 10)
    path = client.get(at(office, f"/{a.batch_id}")).json()["critical_path"]
    assert path["jobs"] == [str(job.id) for job in (a, c, d)]
    # a took 10, demo.sleep takes 100 here, and demo.sum 10 as a did.
    assert path["seconds"] == pytest.approx(120, abs=1)


def test_the_end_of_a_batch_is_estimated_from_run_times_and_free_slots(client, office):
    (job,) = submitted(office, {})
    done(job)
    took(job, 10)
    four = submitted(office, {}, {}, {}, {}, name="four")
    before = datetime.now().astimezone()
    result = client.get(at(office, f"/{four[0].batch_id}")).json()
    # Two slots, four jobs of ten seconds.
    end, rounded = datetime.fromisoformat(result["estimated_end"]), timedelta(seconds=1)
    assert before - rounded < end - timedelta(seconds=20) < datetime.now().astimezone() + rounded


def test_the_estimated_end_is_null_if_unknown(client, office):
    (unknown,) = submitted(office, {}, name="unknown")
    assert client.get(at(office, f"/{unknown.batch_id}")).json()["estimated_end"] is None
    done(unknown)
    took(unknown, 1)
    first, _ = submitted(office, {"ref": "a"}, {"depends_on": ["a"]}, name="blocked")
    assert client.get(at(office, f"/{first.batch_id}")).json()["estimated_end"] is not None
    running(first).fail(failure_type="git_conflict")
    assert client.get(at(office, f"/{first.batch_id}")).json()["estimated_end"] is None
