"""The API of step queues: creating, running, waiting, cancelling, events, and access."""

import uuid
from threading import BoundedSemaphore

import pytest
from django.test import Client

from jobs.api.framework import waiting
from jobs.errors import PROBLEM_CODES
from jobs.models import Membership
from scheduler.steps.models import Step, StepQueue
from tests.factories import a_member, an_office, serve_roles
from tests.integration.rest_support import PROBLEM, client_of, make_user
from tests.step_factories import (
    JOB_DEFAULTS,
    QUEUE_DEFAULTS,
    a_job,
    a_queue,
    completed,
    fresh,
    run_operation,
    run_to_end,
    states,
    steps,
)
from tests.step_operations import LIBRARY

pytestmark = pytest.mark.django_db

JSON = "application/json"
NOWHERE = "0199c0de-0000-7000-8000-000000000001"


@pytest.fixture
def alice():
    return make_user("alice")


@pytest.fixture
def client(alice):
    return client_of(alice)


def post(client, path, body=None, **headers):
    return client.post(path, body or {}, content_type=JSON, headers=headers)


def code(answer):
    assert answer["Content-Type"] == PROBLEM, answer.content
    # The page that a problem's `type` links to.
    assert answer.json()["code"] in PROBLEM_CODES
    return answer.status_code, answer.json()["code"]


def test_a_queue_has_the_names_and_defaults_of_the_specification(client):
    answer = post(client, "/api/queues")
    assert answer.status_code == 201
    body = answer.json()
    assert answer["Location"].endswith(f"/api/queues/{body['queue_id']}")
    assert {name: body[name] for name in QUEUE_DEFAULTS} == QUEUE_DEFAULTS
    assert client.get(f"/api/queues/{body['queue_id']}").json() == body
    assert "callback_secret" not in body


def test_a_job_has_the_names_and_defaults_of_the_specification(client):
    queue = post(client, "/api/queues", {"queue_library": LIBRARY}).json()["queue_id"]
    answer = post(client, f"/api/queues/{queue}/jobs")
    assert answer.status_code == 201
    body = answer.json()
    own = {"operation_library": LIBRARY, "prev_job": "HEAD", "next_job": "TAIL", "undo_retries": 3}
    linked = JOB_DEFAULTS | own
    assert {name: body[name] for name in body if name not in ("job_id", "queue_id", "number")} == linked
    assert answer["Location"].endswith(f"/api/queues/{queue}/jobs/{body['job_id']}")
    assert client.get(f"/api/queues/{queue}/jobs/{body['job_id']}").json() == body


def test_jobs_are_listed_in_order_and_paginated(client, alice):
    queue = a_queue(*[a_job(str(number)) for number in range(5)], owner=alice)
    first = client.get(f"/api/queues/{queue.queue_id}/jobs?page_size=3").json()
    assert (first["count"], [job["number"] for job in first["results"]]) == (5, [1, 2, 3])
    assert [job["number"] for job in client.get(first["next"]).json()["results"]] == [4, 5]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"forward_operation": "os.system"}, "forward_operation"),
        ({"operation_library": "os"}, "operation_library"),
        ({"expired_time": 0}, "expired_time"),
        ({"expired_time": -1}, "expired_time"),
        ({"expired_time": 10**9}, "expired_time"),
        ({"expired_time": "soon"}, "expired_time"),
        ({"forward_operation": "do", "arguments": {"sudo": True}}, "arguments"),
        ({"forward_operation": "do", "arguments": ["a", "succeed", "more"]}, "arguments"),
        ({"forward_operation": "do", "arguments": None}, "arguments"),
        ({"forward_operation": "do", "arguments": 5}, "arguments"),
        ({"undo_retries": -1}, "undo_retries"),
        ({"undo_retries": 21}, "undo_retries"),
        ({"undo_retries": "3"}, "undo_retries"),
        ({"undo_retries": None}, "undo_retries"),
        ({"undo_retries": 1.5}, "undo_retries"),
        ({"job_id": "soon"}, "job_id"),
        ({"job_id": None}, "job_id"),
    ],
)
def test_an_invalid_job_is_refused_by_field(client, alice, body, field):
    queue = a_queue(owner=alice)
    own_library = {"operation_library": LIBRARY, **body}
    for path, job in ((f"/api/queues/{queue.queue_id}/jobs", body), ("/api/steps", own_library)):
        answer = post(client, path, job)
        assert answer.status_code == 400
        assert field in answer.json()["errors"]
    assert not Step.objects.exists()
    assert fresh(queue).state == "EMPTY"


@pytest.mark.parametrize("body", [{"callback_url": "ftp://x/"}, {"queue_library": "os"}])
def test_an_invalid_queue_is_refused_by_field(client, body):
    answer = post(client, "/api/queues", body)
    assert answer.status_code == 400
    assert set(answer.json()["errors"]) == set(body)


def test_a_run_is_accepted_and_ends_with_the_return_message(client, alice):
    queue = a_queue(a_job("a"), a_job("b", "fail"), owner=alice)
    path = f"/api/queues/{queue.queue_id}"
    answer = post(client, f"{path}/run")
    assert (answer.status_code, answer.json()["state"], answer.json()["run"]) == (202, "RUNNING", 1)
    assert answer["Location"].endswith(path)
    assert answer.json()["running_job"] == str(steps(queue)[0].job_id)
    assert code(post(client, f"{path}/run")) == (409, "queue_running")
    assert code(post(client, f"{path}/jobs", a_job())) == (409, "queue_running")
    assert code(client.delete(path)) == (409, "queue_running")
    run_to_end(queue)
    body = client.get(path).json()
    assert (body["state"], body["operation_direction"]) == ("READY", "BACKWARD")
    jobs = client.get(f"{path}/jobs").json()["results"]
    assert [job["state"] for job in jobs] == ["SUCCESS, CANCELED", "FAILED, CANCELED"]
    assert jobs[0]["job_return"] == {"forward": "a did", "backward": "a did"}
    assert client.delete(path).status_code == 204
    assert code(client.get(path)) == (404, "not_found")


def test_an_empty_queue_cannot_be_run(client, alice):
    assert code(post(client, f"/api/queues/{a_queue(owner=alice).queue_id}/run")) == (409, "queue_empty")


def test_a_run_that_ends_as_it_starts_answers_the_wait_at_once(client, alice):
    queue = a_queue({}, {}, owner=alice)
    answer = post(client, f"/api/queues/{queue.queue_id}/run?wait=5")
    assert (answer.status_code, answer.json()["state"]) == (200, "READY")
    assert [line["state"] for line in answer.json()["queue_return"]] == ["SUCCESS", "SUCCESS"]


def test_a_run_that_outlasts_the_wait_is_answered_as_accepted(client, alice):
    queue = a_queue(a_job(), owner=alice)
    answer = post(client, f"/api/queues/{queue.queue_id}/run?wait=0.1")
    assert (answer.status_code, answer.json()["state"]) == (202, "RUNNING")


def test_a_wait_beyond_the_limit_of_waiters_is_answered_at_once(client, alice, monkeypatch):
    monkeypatch.setattr(waiting, "SLOTS", BoundedSemaphore(1))
    queue = a_queue(a_job(), owner=alice)
    with waiting.waiting_slot():
        assert post(client, f"/api/queues/{queue.queue_id}/run?wait=60").status_code == 202
    # The slot is free again.
    with waiting.waiting_slot() as may_wait:
        assert may_wait


@pytest.mark.parametrize("wait", ["-1", "61", "nan", "soon", "1e400", ""])
def test_a_wait_is_at_most_a_minute(client, alice, wait):
    queue = a_queue(a_job(), owner=alice)
    answer = post(client, f"/api/queues/{queue.queue_id}/run?wait={wait}")
    assert code(answer) == (400, "invalid")
    assert fresh(queue).state == "READY"


def test_a_repeated_run_request_runs_once(client, alice):
    queue = a_queue(a_job(), owner=alice)
    path = f"/api/queues/{queue.queue_id}/run"
    first = post(client, path, **{"Idempotency-Key": "once"})
    again = post(client, path, **{"Idempotency-Key": "once"})
    assert (first.status_code, again.status_code, again["Idempotency-Replayed"]) == (202, 202, "true")
    assert fresh(queue).run == 1
    run_to_end(queue)
    assert fresh(queue).run == 1


def test_a_repeated_run_request_waits_for_its_own_run(client, alice):
    queue = a_queue({}, owner=alice)
    path = f"/api/queues/{queue.queue_id}/run?wait=5"
    post(client, path, **{"Idempotency-Key": "once"})
    again = post(client, path, **{"Idempotency-Key": "once"})
    assert (again.status_code, again.json()["run"], fresh(queue).run) == (200, 1, 1)


def test_a_run_can_be_cancelled(client, alice):
    queue = a_queue(a_job("a"), a_job("b"), owner=alice)
    path = f"/api/queues/{queue.queue_id}"
    assert code(post(client, f"{path}/cancel")) == (409, "nothing_to_cancel")
    post(client, f"{path}/run")
    run_operation(queue)
    answer = post(client, f"{path}/cancel")
    assert (answer.status_code, answer.json()["operation_direction"]) == (202, "BACKWARD")
    assert answer.json()["cancel_requested_at"]
    run_to_end(queue)
    assert code(post(client, f"{path}/cancel")) == (409, "nothing_to_cancel")


def test_jobs_are_moved_and_removed(client, alice):
    queue = a_queue(a_job("a"), a_job("b"), owner=alice)
    first, second = steps(queue)
    path = f"/api/queues/{queue.queue_id}/jobs"
    moved = client.patch(f"{path}/{second.job_id}", {"number": 1}, content_type=JSON)
    assert (moved.status_code, moved.json()["number"], moved.json()["prev_job"]) == (200, 1, "HEAD")
    for wrong in ({"number": 3}, {"number": 0}, {"number": "1"}, {"number": None}, {"state": "SUCCESS"}):
        answer = client.patch(f"{path}/{second.job_id}", wrong, content_type=JSON)
        assert (answer.status_code, "errors" in answer.json()) == (400, True), wrong
    assert client.patch(f"{path}/{second.job_id}", {}, content_type=JSON).json()["number"] == 1
    assert [step.job_id for step in steps(queue)] == [second.job_id, first.job_id]
    assert client.delete(f"{path}/{second.job_id}").status_code == 204
    assert [step.job_id for step in steps(queue)] == [first.job_id]
    assert code(client.delete(f"{path}/{second.job_id}")) == (404, "not_found")
    mallory, of_first = client_of(make_user("mallory")), f"{path}/{first.job_id}"
    assert mallory.delete(of_first).status_code == 404
    assert mallory.patch(of_first, {"number": 1}, content_type=JSON).status_code == 404
    assert len(steps(queue)) == 1


def test_a_check_of_a_queue_names_what_a_run_would_fail_at_and_runs_nothing(client, alice):
    queue = a_queue(a_job("a"), a_job("b"), {"operation_library": "provisioning"}, owner=alice)
    path = f"/api/queues/{queue.queue_id}/check"
    serve_roles("default")
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.json() == {"valid": True, "jobs": [], "roles_without_worker": []}
    first, second, third = steps(queue)
    # The code of the libraries has changed since the jobs were enqueued.
    Step.objects.filter(pk=first.pk).update(arguments={"tag": "a", "forwards": "succeed"})
    Step.objects.filter(pk=second.pk).update(operation_library="gone")
    Step.objects.filter(pk=third.pk).update(
        forward_operation="put", operation_library=LIBRARY, backward_operation="gone"
    )
    body = client.get(path).json()
    assert (body["valid"], body["roles_without_worker"]) == (False, ["QA"])
    assert [(job["number"], job["job_id"], [*job["errors"]]) for job in body["jobs"]] == [
        (1, str(first.job_id), ["arguments"]),
        (2, str(second.job_id), ["operation_library"]),
        (3, str(third.job_id), ["backward_operation"]),
    ]
    assert "'gone'" in body["jobs"][1]["errors"]["operation_library"][0]
    assert (fresh(queue).run, states(queue)) == (0, ["NOTYET"] * 3)


def test_a_check_reports_jobs_without_a_library_and_refuses_an_empty_queue(client, alice):
    queue = a_queue({}, owner=alice, queue_library="UNINIT")
    (job,) = client.get(f"/api/queues/{queue.queue_id}/check").json()["jobs"]
    assert job["errors"] == {"operation_library": ["The job has no library: the run would roll back here."]}
    empty = a_queue(owner=alice)
    assert code(client.get(f"/api/queues/{empty.queue_id}/check")) == (409, "queue_empty")


def test_a_run_that_rolled_back_is_resumed(client, alice):
    queue = completed(a_queue(a_job("a", "fail"), owner=alice))
    path = f"/api/queues/{queue.queue_id}/resume"
    answer = post(client, path)
    assert answer.status_code == 202
    assert (answer.json()["operation_direction"], answer.json()["run"]) == ("FORWARD", 1)
    assert code(post(client, path)) == (409, "queue_running")
    new = a_queue(owner=alice)
    assert code(post(client, f"/api/queues/{new.queue_id}/resume")) == (409, "nothing_to_resume")


def test_a_failed_rollback_is_rerun(client, alice):
    queue = completed(a_queue(a_job("a", "fail", "fail"), owner=alice))
    (job,) = steps(queue)
    path = f"/api/queues/{queue.queue_id}/jobs/{job.job_id}/rerun"
    answer = post(client, path)
    assert (answer.status_code, answer.json()["running_job"]) == (202, str(job.job_id))
    assert code(post(client, path)) == (409, "queue_running")
    run_to_end(queue)
    assert steps(queue)[0].state == "FAILED, FAILED, FAILED"
    assert code(post(client, f"/api/queues/{queue.queue_id}/jobs/{NOWHERE}/rerun")) == (404, "not_found")


def test_events_are_read_page_by_page_without_a_gap(client, alice):
    queue = completed(a_queue(a_job("a"), a_job("b"), owner=alice))
    path = f"/api/queues/{queue.queue_id}/events"
    results, after = [], 0
    while page := client.get(f"{path}?after={after}&limit=2").json():
        if not page["results"]:
            break
        results += page["results"]
        after = page["next_after"]
    types = [event["type"] for event in results]
    assert types == ["queue_started", "step_ended", "step_ended", "queue_finished"]
    assert results == sorted(results, key=lambda event: event["id"])
    assert code(client.get(f"{path}?limit=0"))[0] == 400
    assert code(client.get(f"{path}?since=1")) == (400, "unknown_parameter")


def test_libraries_are_listed_with_their_operations_and_arguments(client):
    results = client.get("/api/libraries?page_size=200").json()["results"]
    names = [library["name"] for library in results]
    assert names == sorted(names)
    assert {"provisioning", LIBRARY} <= set(names)
    library = client.get("/api/libraries/provisioning").json()
    assert library in results
    assert library["description"].startswith("Provisioning, in four steps")
    operations = {operation["name"]: operation for operation in library["operations"]}
    assert set(operations) == {
        "reserve_address", "release_address", "create_volume", "delete_volume",
        "start_machine", "stop_machine", "register_name", "remove_name",
    }  # fmt: skip
    gigabytes = operations["create_volume"]["arguments_schema"]["properties"]["gigabytes"]
    assert (gigabytes["minimum"], gigabytes["default"]) == (1, 20)
    assert operations["start_machine"]["role"] == "DevOps"
    assert code(client.get("/api/libraries/os")) == (404, "not_found")


def test_the_list_has_the_callers_queues_and_those_of_their_offices(client, alice):
    bob = make_user("bob")
    office = an_office(alice)
    mine, ours = a_queue(owner=alice), a_queue(owner=bob, office=office)
    a_queue(owner=bob)
    a_queue(owner=alice, office=an_office())
    results = client.get("/api/queues").json()["results"]
    assert [queue["queue_id"] for queue in results] == [ours.queue_id, mine.queue_id]
    results = client.get(f"/api/queues?office={office.id}").json()["results"]
    assert [queue["queue_id"] for queue in results] == [ours.queue_id]
    assert client.get("/api/queues?state=RUNNING").json()["count"] == 0
    assert code(client.get("/api/queues?stat=READY")) == (400, "unknown_parameter")


def test_a_callback_secret_is_shown_once(client):
    body = post(client, "/api/queues", {"callback_url": "https://example.com/hook"}).json()
    assert body["callback_secret"].startswith("whsec_")
    assert "callback_secret" not in client.get(f"/api/queues/{body['queue_id']}").json()


# --- whose it is ----------------------------------------------------------------------------------


def routes(queue: StepQueue):
    path, job = f"/api/queues/{queue.queue_id}", steps(queue)[0].job_id
    return [
        ("get", path, 200),
        ("get", f"{path}/jobs", 200),
        ("get", f"{path}/jobs/{job}", 200),
        ("get", f"{path}/events", 200),
        ("post", f"{path}/jobs", 201),
        ("post", f"{path}/jobs/{job}/rerun", 409),
        ("post", f"{path}/cancel", 409),
        ("post", f"{path}/run", 202),
        ("delete", path, 409),
    ]


def statuses(client: Client, queue: StepQueue) -> list[tuple[str, int]]:
    return [
        (f"{method} {path}", getattr(client, method)(path, content_type=JSON).status_code)
        for method, path, _ in routes(queue)
    ]


def test_staff_have_read_only_access(alice):
    queue = a_queue(a_job(), owner=alice)
    looked = [status for _, status in statuses(client_of(make_user("staff", is_staff=True)), queue)]
    assert looked == [200] * 4 + [403] * 5


@pytest.mark.parametrize(("role", "may"), [("viewer", False), ("operator", True), ("owner", True)])
def test_an_office_members_role_decides_what_they_may_do(alice, role, may):
    office = an_office(alice)
    bob = a_member(office, "bob", role)
    queue = a_queue(a_job(), owner=alice, office=office)
    expected = [status for *_, status in routes(queue)]
    assert [status for _, status in statuses(client_of(bob), queue)] == (
        expected if may else [200] * 4 + [403] * 5
    )


def test_a_user_who_leaves_the_office_loses_its_queues(client, alice):
    office = an_office(alice)
    queue = a_queue(a_job(), owner=alice, office=office)
    Membership.objects.all().delete()
    assert client.get(f"/api/queues/{queue.queue_id}").status_code == 404


def test_a_queue_can_be_created_only_in_an_office_that_the_user_operates(client):
    assert code(post(client, "/api/queues", {"office": str(an_office().id)})) == (404, "not_found")
    office = an_office()
    bob = a_member(office, "bob")
    assert post(client_of(bob), "/api/queues", {"office": str(office.id)}).status_code == 403


def test_a_job_of_another_queue_is_not_found(client, alice):
    mine, other = a_queue(a_job(), owner=alice), a_queue(a_job(), owner=alice)
    foreign = steps(other)[0].job_id
    assert code(client.get(f"/api/queues/{mine.queue_id}/jobs/{foreign}")) == (404, "not_found")
    assert code(client.get(f"/api/queues/{10**30}")) == (404, "not_found")
    assert code(client.get(f"/api/queues/{uuid.uuid4()}")) == (404, "not_found")
