"""A real worker has a Task that this process, which serves the API here, does not have."""

import sys

import pytest

from jobs import catalogue, lifecycle, submission
from jobs.models import CatalogueOffer, Job
from jobs.states import JobStatus
from scheduler.steps import lifecycle as steps
from tests import engine_workers, workers
from tests.factories import an_office
from tests.integration.rest_support import client_of, make_user
from tests.step_factories import a_queue, states
from tests.workers import eventually

pytestmark = pytest.mark.django_db(transaction=True)

RESERVE = {"forward_operation": "reserve", "arguments": {"size": 1}}
ENVIRONMENT = {"DURE_WORKER_MODULES": "tests.shop_tasks"}


def test_a_worker_brings_a_task_that_no_other_process_imports(tmp_path):
    user = make_user()
    office, api = an_office(user), client_of(user)

    def post(path, body):
        return api.post(path, body, content_type="application/json")

    jobs = f"/api/offices/{office.id}/jobs"
    body = {"task_id": "shop.pack", "args": {"name": "a lamp", "boxes": 2}}
    assert post(jobs, body).status_code == 400
    with workers.running(tmp_path, queues="Designer", env=ENVIRONMENT) as worker:
        submitted = post(jobs, body)
        assert submitted.status_code == 201, submitted.content
        job = Job.objects.get()
        assert (job.role, job.max_retries) == ("Designer", 7)
        assert engine_workers.ended(job).status == JobStatus.DONE
        assert engine_workers.result(job) == "2 x a lamp"

        refused = post(jobs, {"task_id": "shop.pack", "args": {"boxes": 9, "nme": "a"}})
        assert sorted(refused.json()["errors"]["args"]) == [
            "boxes: Must be at most 5.",
            "name: This field is required.",
            "nme: The Task takes no such argument.",
        ]
        schedule = {"name": "nightly", "task_id": "shop.pack", "kind": "cron", "cron": "0 3 * * *"}
        assert post("/api/schedules", {**schedule, "args": {"name": "a"}}).status_code == 201
        assert "name" in str(post("/api/schedules", schedule).json()["errors"])
        assert api.get("/api/tasks/shop.pack").json()["args_schema"]["properties"]["boxes"]["maximum"] == 5
        assert api.get("/api/libraries/shop").json()["operations"][0]["name"] == "reserve"
        worker.stop()
    eventually(lambda: CatalogueOffer.objects.filter(name="shop.pack").exists(), what="the offer")
    assert post(jobs, body).status_code == 201
    assert "tests.shop_tasks" not in sys.modules


def test_a_run_reaches_the_worker_that_has_its_task_or_operation(tmp_path):
    """Two workers of one role; one of them has neither."""
    office = an_office(max_concurrent_jobs=20)
    with (
        workers.running(tmp_path, queues="Designer", name="without", control=False) as without,
        workers.running(tmp_path, queues="Designer", name="with", env=ENVIRONMENT),
    ):
        pack = {"task_id": "shop.pack", "args": {"name": "a"}}
        add = {"task_id": "demo.sum", "args": {"numbers": [1]}, "role": "Designer"}
        jobs = lifecycle.submit(submission.read(office, {"jobs": [pack, add] * 6}))
        for job in Job.objects.filter(id__in=jobs):
            assert engine_workers.ended(job, 60).status == JobStatus.DONE
            assert len(engine_workers.outcomes(job)) == 1
        catalogue.forget()
        queues = [a_queue(RESERVE, queue_library="shop") for _ in range(12)]
        for queue in queues:
            steps.run(queue.queue_id)
        for queue in queues:
            eventually(lambda queue=queue: states(queue) == ["SUCCESS"], what=f"the end of {queue}")
        assert "Received unregistered task" not in without.log.read_text()


def test_a_worker_whose_module_cannot_be_imported_does_not_start(tmp_path):
    process = workers.worker(
        tmp_path,
        queues="Designer",
        concurrency=1,
        name="broken",
        env={"DURE_WORKER_MODULES": "tests.no_such"},
    )
    eventually(lambda: process.poll() is not None, 60, what="the worker's end")
    assert process.poll() != 0
    assert "No module named 'tests.no_such'" in process.log.read_text()
    process.kill()
