"""Step queues in the real system: the example of docs/step-queues.md runs forward, and rolls back."""

from typing import Any

from tests.acceptance.system import Client, System

PAIRS = (
    ("reserve_address", "release_address"),
    ("create_volume", "delete_volume"),
    ("start_machine", "stop_machine"),
    ("register_name", "remove_name"),
)


def provisioning(client: Client, name: str, *, fail: bool = False) -> str:
    """The queue's address, with its four jobs."""
    made = client.create("/api/queues", {"queue_library": "provisioning", "name": name})
    path = f"/api/queues/{made['queue_id']}"
    arguments: list[dict[str, Any]] = [{}, {}, {"boot_seconds": 0.2}, {"name": name, "fail": fail}]
    for (forward, backward), values in zip(PAIRS, arguments, strict=True):
        job = {"forward_operation": forward, "backward_operation": backward, "arguments": values}
        client.create(f"{path}/jobs", job)
    return path


def states(client: Client, path: str) -> list[str]:
    return [job["state"] for job in client.get(f"{path}/jobs").json["results"]]


def test_a_failure_of_the_last_of_four_steps_rolls_back_the_first_three(stack: System) -> None:
    alice = stack.client("alice")
    path = provisioning(alice, "web-1")
    answer = alice.post(f"{path}/run?wait=60")
    assert answer.status == 200
    assert (answer.json["state"], answer.json["operation_direction"]) == ("READY", "FORWARD")
    assert set(answer.json["context"]) == {"address", "volume", "machine", "name"}
    assert states(alice, path) == ["SUCCESS"] * 4

    path = provisioning(alice, "web-2", fail=True)
    answer = alice.post(f"{path}/run?wait=60")
    assert answer.status == 200
    assert (answer.json["operation_direction"], answer.json["context"]) == ("BACKWARD", {})
    lines = [(line["operation"], line["state"]) for line in answer.json["queue_return"]]
    assert lines == [
        ("reserve_address", "SUCCESS"),
        ("create_volume", "SUCCESS"),
        ("start_machine", "SUCCESS"),
        ("register_name", "FAILED"),
        ("remove_name", "FAILED, CANCELED"),
        ("stop_machine", "SUCCESS, CANCELED"),
        ("delete_volume", "SUCCESS, CANCELED"),
        ("release_address", "SUCCESS, CANCELED"),
    ]
    assert alice.get(f"{path}/events").json["results"][-1]["type"] == "queue_finished"
