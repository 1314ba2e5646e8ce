"""The provisioning example: four steps forward, and rolled back when the last one fails."""

import pytest

from jobs import redis
from scheduler.steps import lifecycle
from tests.step_factories import a_queue, claimed, completed, fresh, run_operation, run_to_end, states, steps
from workers.provisioning import ADDRESSES, MACHINES, NAMES, RESOURCES, VOLUMES, resources

pytestmark = pytest.mark.django_db

KINDS = (ADDRESSES, VOLUMES, MACHINES, NAMES)


@pytest.fixture(autouse=True)
def empty_resources():
    redis.client().delete(*map(RESOURCES.format, KINDS))
    yield
    redis.client().delete(*map(RESOURCES.format, KINDS))


def provisioning(name="web-1", network="10.20.0.0/29", **last):
    pairs = [
        ("reserve_address", "release_address", {"network": network}),
        ("create_volume", "delete_volume", {"gigabytes": 40}),
        ("start_machine", "stop_machine", {"cpus": 4, "boot_seconds": 0}),
        ("register_name", "remove_name", {"name": name, **last}),
    ]
    return a_queue(
        *[
            {"forward_operation": forward, "backward_operation": backward, "arguments": arguments}
            for forward, backward, arguments in pairs
        ],
        queue_library="provisioning",
    )


def counts():
    return [len(resources(kind)) for kind in KINDS]


def test_four_steps_create_a_machine_with_a_name():
    queue = completed(provisioning())
    assert states(queue) == ["SUCCESS"] * 4
    assert counts() == [1, 1, 1, 1]
    assert queue.context["address"] == "10.20.0.1"
    assert set(queue.context) == {"address", "volume", "machine", "name"}
    assert steps(queue)[2].job_return["forward"]["volume"] == queue.context["volume"]


def test_a_failure_of_the_last_step_rolls_back_the_first_three():
    queue = completed(provisioning(fail=True))
    assert states(queue) == ["SUCCESS, CANCELED"] * 3 + ["FAILED, CANCELED"]
    assert counts() == [0, 0, 0, 0]
    assert queue.context == {}


def test_a_taken_name_rolls_back_only_what_this_queue_created():
    first = completed(provisioning())
    second = completed(provisioning())
    assert "taken" in steps(second)[3].job_return["forward"]["error"]
    assert states(second) == ["SUCCESS, CANCELED"] * 3 + ["FAILED, CANCELED"]
    assert counts() == [1, 1, 1, 1]
    assert resources(ADDRESSES) == {first.context["address"]: f"{first.queue_id}-1-{steps(first)[0].job_id}"}


def test_every_queue_gets_its_own_address_until_none_is_left():
    queues = [completed(provisioning(f"web-{number}", network="10.20.0.0/30")) for number in range(3)]
    assert [queue.context.get("address") for queue in queues] == ["10.20.0.1", "10.20.0.2", None]
    assert "no free address" in steps(queues[2])[0].job_return["forward"]["error"]


def test_a_step_that_starts_again_after_a_crash_creates_nothing_twice(monkeypatch):
    queue = provisioning()
    lifecycle.run(queue.queue_id)
    dying = claimed(queue)
    # The worker dies between the last effect and its report: the address is reserved, and not recorded.
    monkeypatch.setattr("jobs.runner.settle_success", lambda *_: None)
    dying.perform()
    monkeypatch.undo()
    assert (counts()[0], fresh(queue).context) == (1, {})
    dying.lose()
    run_to_end(queue)
    assert (states(queue), counts()) == (["SUCCESS"] * 4, [1, 1, 1, 1])


def test_a_rollback_finds_what_a_dead_worker_left_behind(monkeypatch):
    queue = provisioning()
    lifecycle.run(queue.queue_id)
    run_operation(queue)
    for _ in range(3):
        dying = claimed(queue)
        monkeypatch.setattr("jobs.runner.settle_success", lambda *_: None)
        dying.perform()
        monkeypatch.undo()
        dying.lose()
    assert counts() == [1, 1, 0, 0]
    run_to_end(queue)
    assert states(queue)[:2] == ["SUCCESS, CANCELED", "FAILED, CANCELED"]
    assert counts() == [0, 0, 0, 0]


@pytest.mark.parametrize("network", ["10.0.0.0/33", "nowhere", "::/64"])
def test_an_invalid_network_fails_the_first_step(network):
    queue = completed(provisioning(network=network))
    assert states(queue)[0] == "FAILED, CANCELED"
    assert steps(queue)[0].job_return["forward"]["failure_type"] == "invalid_args"


def test_a_registrar_that_keeps_the_name_fails_the_rollback_too():
    queue = provisioning(fail=True, keep=True)
    queue.steps.update(undo_retries=0)
    assert states(completed(queue)) == [*["SUCCESS, CANCELED"] * 3, "FAILED, FAILED"]
