"""The pages that create a step queue, add jobs to it, and copy it."""

import pytest

from scheduler.steps import lifecycle
from scheduler.steps.models import Step, StepQueue
from tests.factories import a_member, a_user, an_office
from tests.integration.pages.clients import at_queue as at
from tests.integration.pages.clients import signed_in
from tests.step_factories import a_job, a_queue, fresh, states, steps
from tests.step_operations import LIBRARY

pytestmark = pytest.mark.django_db

JOB = {
    "forward": f"{LIBRARY}.do",
    "backward": f"{LIBRARY}.undo",
    "arguments": '["a"]',
    "expired_time": "5",
    "undo_retries": "0",
}


@pytest.fixture
def alice():
    return a_user("alice")


@pytest.fixture
def client(alice):
    return signed_in(alice)


def test_a_queue_and_its_jobs_are_created_on_pages(client, alice):
    assert b"/step-queues/new" in client.get("/step-queues").content
    assert LIBRARY in client.get("/step-queues/new").content.decode()
    answer = client.post("/step-queues/new", {"name": "web-1", "queue_library": LIBRARY, "office": ""})
    queue = StepQueue.objects.get()
    assert answer["Location"] == at(queue, "/jobs/new")
    assert (queue.name, queue.queue_library, queue.owner, queue.office) == ("web-1", LIBRARY, alice, None)
    assert f"{LIBRARY}.undo" in client.get(at(queue, "/jobs/new")).content.decode()
    assert client.post(at(queue, "/jobs/new"), JOB | {"another": "1"})["Location"] == at(queue, "/jobs/new")
    assert client.post(at(queue, "/jobs/new"), {"expired_time": "30"})["Location"] == at(queue)
    first, second = steps(queue)
    assert (first.arguments, first.expired_time, first.undo_retries) == (["a"], 5.0, 0)
    assert (first.forward_operation, first.backward_operation) == ("do", "undo")
    assert (second.arguments, second.forward_operation) == ("EMPTY_ARGS", "NO_OPERATION")
    assert second.undo_retries is None
    assert states(queue) == ["NOTYET", "NOTYET"]
    page = client.get(at(queue)).content.decode()
    assert at(queue, "/jobs/new") in page
    assert page.count("0 retries of the rollback") == 1


def test_a_queue_is_created_in_an_office_that_the_user_operates(client, alice):
    office, other = an_office(alice), an_office()
    seen = an_office()
    a_member(seen, "alice")
    for refused in (other, seen):
        form = {"queue_library": "UNINIT", "office": str(refused.id)}
        assert client.post("/step-queues/new", form).status_code == 400
    assert not StepQueue.objects.exists()
    client.post("/step-queues/new", {"queue_library": "UNINIT", "office": str(office.id)})
    assert StepQueue.objects.get().office == office


@pytest.mark.parametrize(
    "bad", [{"queue_library": "os"}, {"queue_library": ""}, {"office": "none"}, {"name": "x" * 201}]
)
def test_an_invalid_queue_is_refused_beside_its_field(client, bad):
    answer = client.post("/step-queues/new", {"queue_library": LIBRARY} | bad)
    assert answer.status_code == 400
    assert set(answer.context["form"].errors) == set(bad)
    assert not StepQueue.objects.exists()


@pytest.mark.parametrize(
    ("bad", "field"),
    [
        ({"forward": "os.system"}, "forward"),
        ({"backward": "provisioning.remove_name"}, "backward"),
        ({"arguments": "[1"}, "arguments"),
        ({"arguments": "[1]"}, "arguments"),
        ({"arguments": '{"sudo": true}'}, "arguments"),
        ({"expired_time": "0"}, "expired_time"),
        ({"expired_time": ""}, "expired_time"),
        ({"expired_time": "1e9"}, "expired_time"),
        ({"undo_retries": "21"}, "undo_retries"),
        ({"undo_retries": "-1"}, "undo_retries"),
    ],
)
def test_an_invalid_job_is_refused_beside_its_field(client, alice, bad, field):
    queue = a_queue(owner=alice)
    answer = client.post(at(queue, "/jobs/new"), JOB | bad)
    assert answer.status_code == 400
    assert list(answer.context["form"].errors) == [field]
    assert not Step.objects.exists()


def test_a_running_queue_takes_no_job_from_the_page(client, alice):
    queue = a_queue(a_job(), owner=alice)
    lifecycle.run(queue.queue_id)
    answer = client.post(at(queue, "/jobs/new"), JOB)
    assert (answer.status_code, fresh(queue).job_number) == (400, 1)


def test_a_queue_is_copied_on_its_page(client, alice):
    queue = a_queue(a_job(), owner=alice, name="web-1")
    assert at(queue, "/copy").encode() in client.get(at(queue)).content
    answer = client.post(at(queue, "/copy"))
    twin = StepQueue.objects.exclude(pk=queue.pk).get()
    assert (answer["Location"], twin.name, twin.job_number) == (at(twin), "web-1", 1)


def test_only_those_who_operate_a_queue_add_jobs_and_copy_it(alice):
    office = an_office(alice)
    queue = a_queue(a_job(), owner=alice, office=office)
    viewer = signed_in(a_member(office, "viewer"))
    assert viewer.post(at(queue, "/jobs/new"), JOB).status_code == 403
    assert viewer.get(at(queue, "/jobs/new")).status_code == 403
    assert viewer.post(at(queue, "/copy")).status_code == 403
    assert at(queue, "/copy").encode() not in viewer.get(at(queue)).content
    assert (StepQueue.objects.count(), fresh(queue).job_number) == (1, 1)
