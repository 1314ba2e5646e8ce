"""Jobs before they are enqueued, arguments of any JSON value, retries of a job's rollback, copies."""

import pytest
from django.utils import timezone

from jobs.models import Execution
from scheduler.steps import lifecycle, queues
from scheduler.steps.models import Step, StepQueue
from tests.factories import a_member, an_office
from tests.integration.rest_support import client_of, make_user
from tests.integration.test_steps_api import JSON, NOWHERE, code, post
from tests.step_factories import JOB_DEFAULTS, a_job, a_queue, completed, fresh, run_to_end, states, steps
from tests.step_operations import LIBRARY

pytestmark = pytest.mark.django_db


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def client(alice):
    return client_of(alice)


def post_json(client, path, text):
    return client.post(path, text, content_type=JSON)


# --- before a job is enqueued ---------------------------------------------------------------------


def test_a_job_is_unlinked_until_it_is_enqueued(client, alice):
    answer = post(client, "/api/steps")
    assert answer.status_code == 201
    job = answer.json()
    nolib = JOB_DEFAULTS | {"state": "NOLIB", "queue_id": None, "number": None, "undo_retries": 3}
    assert job == nolib | {"job_id": job["job_id"]}
    assert answer["Location"].endswith(f"/api/steps/{job['job_id']}")
    assert client.get(f"/api/steps/{job['job_id']}").json() == job
    assert client.get("/api/steps").json()["results"] == [job]
    queue = a_queue(a_job(), owner=alice)
    answer = post(client, f"/api/queues/{queue.queue_id}/jobs", {"job_id": job["job_id"]})
    assert answer.status_code == 201
    first, second = steps(queue)
    enqueued = answer.json()
    assert enqueued == job | {
        "queue_id": queue.queue_id,
        "number": 2,
        "operation_library": LIBRARY,
        "state": "NOTYET",
        "prev_job": str(first.job_id),
        "next_job": "TAIL",
    }
    assert (first.next_job, second.owner) == (job["job_id"], None)
    assert client.get(f"/api/steps/{job['job_id']}").json() == enqueued
    assert client.get("/api/steps").json()["count"] == 0
    assert states(completed(queue)) == ["SUCCESS", "SUCCESS"]


def test_a_job_is_enqueued_once_and_then_not_deleted(client, alice):
    first, second = a_queue(owner=alice), a_queue(owner=alice)
    job = post(client, "/api/steps", a_job(operation_library=LIBRARY)).json()
    body = {"job_id": job["job_id"]}
    assert post(client, f"/api/queues/{first.queue_id}/jobs", body).status_code == 201
    for queue in (first, second):
        assert code(post(client, f"/api/queues/{queue.queue_id}/jobs", body)) == (409, "job_in_queue")
    assert code(client.delete(f"/api/steps/{job['job_id']}")) == (409, "job_in_queue")
    assert (fresh(first).job_number, fresh(second).state) == (1, "EMPTY")


def test_a_job_that_is_in_no_queue_is_deleted(client):
    job = post(client, "/api/steps").json()["job_id"]
    assert client.delete(f"/api/steps/{job}").status_code == 204
    assert code(client.delete(f"/api/steps/{job}")) == (404, "not_found")
    assert not Step.objects.exists()


def test_another_users_job_does_not_exist(client, alice):
    mallory = make_user("mallory")
    theirs = a_queue(owner=mallory)
    job = queues.create_job(a_job(operation_library=LIBRARY), alice)
    outsider, path = client_of(mallory), f"/api/steps/{job.job_id}"
    body = {"job_id": str(job.job_id)}
    assert code(outsider.get(path)) == (404, "not_found")
    assert code(outsider.delete(path)) == (404, "not_found")
    assert code(post(outsider, f"/api/queues/{theirs.queue_id}/jobs", body)) == (404, "not_found")
    assert outsider.get("/api/steps").json()["count"] == 0
    # Enqueued in a queue that they do not see, it still does not exist for them.
    queue = a_queue(owner=alice)
    queues.enqueue_job(queue.queue_id, job)
    assert code(outsider.get(path)) == (404, "not_found")
    assert code(post(outsider, f"/api/queues/{theirs.queue_id}/jobs", body)) == (404, "not_found")
    assert code(post(client, f"/api/queues/{theirs.queue_id}/jobs", body)) == (404, "not_found")
    nowhere = {"job_id": NOWHERE}
    assert code(post(client, f"/api/queues/{queue.queue_id}/jobs", nowhere)) == (404, "not_found")
    assert fresh(theirs).state == "EMPTY"


def test_a_running_queue_takes_no_existing_job(client, alice):
    queue = a_queue(a_job(), owner=alice)
    job = queues.create_job(a_job(operation_library=LIBRARY), alice)
    lifecycle.run(queue.queue_id)
    answer = post(client, f"/api/queues/{queue.queue_id}/jobs", {"job_id": str(job.job_id)})
    assert code(answer) == (409, "queue_running")
    job.refresh_from_db()
    assert (job.queue_id, job.owner_id, job.prev_job) == (None, alice.pk, "UNLINK")


def test_an_existing_job_is_enqueued_as_it_is(client, alice):
    queue, job = a_queue(owner=alice), queues.create_job({}, alice)
    body = {"job_id": str(job.job_id), "expired_time": 30}
    answer = post(client, f"/api/queues/{queue.queue_id}/jobs", body)
    assert (answer.status_code, set(answer.json()["errors"])) == (400, {"expired_time"})
    assert fresh(queue).state == "EMPTY"


def test_a_job_that_the_queues_library_cannot_run_is_refused_as_it_is_enqueued(client, alice):
    job = post(client, "/api/steps", {"forward_operation": "create_volume"}).json()["job_id"]
    wrong, right = a_queue(owner=alice), a_queue(owner=alice, queue_library="provisioning")
    answer = post(client, f"/api/queues/{wrong.queue_id}/jobs", {"job_id": job})
    assert (answer.status_code, set(answer.json()["errors"])) == (400, {"forward_operation"})
    assert fresh(wrong).state == "EMPTY"
    assert post(client, f"/api/queues/{right.queue_id}/jobs", {"job_id": job}).status_code == 201


def test_a_users_jobs_in_no_queue_are_limited(client, settings):
    settings.DURE_MAX_STEPS_PER_QUEUE = 1
    assert post(client, "/api/steps").status_code == 201
    assert code(post(client, "/api/steps")) == (400, "too_many_unlinked_jobs")
    assert Step.objects.count() == 1


# --- arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "returned"),
    [
        ('["listed"]', "listed did"),
        ('["listed", "succeed"]', "listed did"),
        ('"alone"', "alone did"),
        ("[]", "it did"),
        ("{}", "it did"),
        ('"EMPTY_ARGS"', "it did"),
    ],
)
def test_both_operations_take_a_list_or_a_single_value_in_order(client, alice, arguments, returned):
    queue = a_queue(owner=alice)
    body = f'{{"forward_operation": "do", "backward_operation": "undo", "arguments": {arguments}}}'
    assert post_json(client, f"/api/queues/{queue.queue_id}/jobs", body).status_code == 201
    queues.enqueue(queue.queue_id, a_job("b", "fail"))
    completed(queue)
    assert steps(queue)[0].job_return == {"forward": returned, "backward": returned}


@pytest.mark.parametrize("value", ["null", "0", "false", "1.5", '"text"', "[[1, 2]]", '[{"a": null}]'])
def test_any_json_value_reaches_the_operation_as_it_was_sent(client, alice, value):
    queue = a_queue(owner=alice)
    body = f'{{"forward_operation": "put", "arguments": {value}}}'
    answer = post_json(client, f"/api/queues/{queue.queue_id}/jobs", body)
    assert answer.status_code == 201
    sent = answer.json()["arguments"]
    path = f"/api/queues/{queue.queue_id}/jobs/{answer.json()['job_id']}"
    assert client.get(path).json()["arguments"] == sent
    received = completed(queue).context["value"]
    assert received == (sent[0] if isinstance(sent, list) else sent)


def test_each_operation_takes_as_many_listed_arguments_as_it_has_parameters(client, alice):
    queue = a_queue(owner=alice)
    # For `undo` the second one must be a text.
    body = {"forward_operation": "put", "backward_operation": "undo", "arguments": ["a", 0, ""]}
    assert post(client, f"/api/queues/{queue.queue_id}/jobs", body).status_code == 400
    body["arguments"] = ["a"]
    assert post(client, f"/api/queues/{queue.queue_id}/jobs", body).status_code == 201


# --- retries of a rollback ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "operation", "retries"),
    [(None, "undo_stubbornly", 2), (0, "undo_stubbornly", 0), (5, "undo", 5), (None, "do", 3)],
)
def test_a_job_chooses_how_often_its_rollback_is_retried(client, alice, own, operation, retries):
    queue = a_queue(owner=alice)
    body = {"forward_operation": "do", "backward_operation": operation, "arguments": {"forward": "fail"}}
    body |= {} if own is None else {"undo_retries": own}
    answer = post(client, f"/api/queues/{queue.queue_id}/jobs", body)
    assert answer.json()["undo_retries"] == retries
    completed(queue)
    undo = Execution.objects.get(source__endswith="BACKWARD")
    assert undo.max_retries == retries


def test_the_first_failure_of_a_rollback_without_retries_is_final():
    queue = a_queue(
        a_job("a"),
        a_job("b", backward_operation="undo_stubbornly", arguments={"failures": 1}, undo_retries=0),
        a_job("c", "fail"),
    )
    assert states(completed(queue)) == ["SUCCESS, CANCELED", "SUCCESS, FAILED", "FAILED, CANCELED"]
    assert Execution.objects.get(args__operation="undo_stubbornly").attempt == 1


# --- copies ---------------------------------------------------------------------------------------


def test_a_copy_has_the_same_jobs_none_of_which_has_run(client, alice):
    office = an_office(alice)
    source = a_queue(
        a_job("a", undo_retries=0, expired_time=5),
        a_job("b", "fail"),
        {"arguments": None},
        owner=alice,
        office=office,
        name="web-1",
        callback_url="https://example.com/hook",
    )
    completed(source)
    answer = post(client, f"/api/queues/{source.queue_id}/copy", {"name": "web-2"})
    assert answer.status_code == 201
    body = answer.json()
    assert body["callback_secret"] not in ("", source.callback_secret)
    twin = StepQueue.objects.get(pk=body["queue_id"])
    assert (twin.name, twin.office, twin.state, twin.run, twin.context) == ("web-2", office, "READY", 0, {})
    assert {field: [getattr(step, field) for step in steps(twin)] for field in queues.COPIED_FIELDS} == {
        field: [getattr(step, field) for step in steps(source)] for field in queues.COPIED_FIELDS
    }
    ids = [str(step.job_id) for step in steps(twin)]
    assert [step.prev_job for step in steps(twin)] == ["HEAD", *ids[:-1]]
    assert [step.next_job for step in steps(twin)] == [*ids[1:], "TAIL"]
    assert {step.state for step in steps(twin)} == {"NOTYET"}
    assert (twin.job_queue, twin.last_job, twin.job_number) == (ids[0], ids[-1], 3)
    lifecycle.run(twin.queue_id)
    run_to_end(twin)
    assert states(twin) == states(source)


def test_a_copy_of_an_empty_queue_is_empty_and_has_its_name(client, alice):
    source = a_queue(owner=alice, name="web-1")
    body = post(client, f"/api/queues/{source.queue_id}/copy").json()
    assert (body["state"], body["name"], body["job_number"]) == ("EMPTY", "web-1", 0)


@pytest.mark.parametrize("body", [{"name": "x" * 201}, {"name": 1}, {"name": None}])
def test_an_invalid_copy_is_refused_by_field(client, alice, body):
    source = a_queue(owner=alice)
    answer = post(client, f"/api/queues/{source.queue_id}/copy", body)
    assert (answer.status_code, set(answer.json()["errors"])) == (400, set(body))
    assert StepQueue.objects.count() == 1


def test_only_those_who_operate_a_queue_copy_it(alice):
    office = an_office(alice)
    bob = a_member(office, "bob")
    source = a_queue(owner=alice, office=office)
    path = f"/api/queues/{source.queue_id}/copy"
    assert post(client_of(bob), path).status_code == 403
    assert post(client_of(make_user("mallory")), path).status_code == 404
    assert post(client_of(make_user("staff", is_staff=True)), path).status_code == 403
    queues.copy(source.queue_id, owner=alice, name="", now=timezone.now())
    assert StepQueue.objects.count() == 2
