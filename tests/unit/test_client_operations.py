"""Operations of the client of sdk/, against a server on loopback; docs/client.md runs them against Dure."""

import asyncio
from collections.abc import Callable

import pytest

import dure
from tests.unit.stub_server import stub
from tests.unit.test_client_requests import JOB, OFFICE, answer, in_turn, no_login, pauses, problem, served

assert no_login and pauses  # fixtures


def delete(port: int) -> None:
    with dure.Client(f"http://127.0.0.1:{port}", "secret", office=OFFICE) as client:
        client.remove_member("a/b")


def delete_async(port: int) -> None:
    async def run() -> None:
        async with dure.AsyncClient(f"http://127.0.0.1:{port}", "secret", office=OFFICE) as client:
            await client.remove_member("a/b")

    asyncio.run(run())


@pytest.mark.parametrize("call", [delete, delete_async])
def test_a_deletion_whose_answer_was_lost_has_succeeded(call: Callable[[int], None], pauses):
    with stub(in_turn(b"", problem(404, "not_found"))) as server:
        call(server.port)
    assert server.requests[1].startswith(f"DELETE /api/offices/{OFFICE}/members/a%2Fb ".encode())
    with stub(problem(404, "not_found")) as server, pytest.raises(dure.APIError) as refused:
        call(server.port)
    assert refused.value.status == 404


def test_the_secret_of_a_webhook_is_in_no_text():
    webhook = {"id": 3, "url": "https://shop.example", "enabled": True, "secret": "whsec_secret-of-a-webhook"}
    document = webhook | {"event_types": [], "created_at": JOB["created_at"]}
    with served(answer(201, document)) as (_, client):
        made = client.create_webhook("https://shop.example")
    assert made.secret == webhook["secret"]
    assert "secret-of-a-webhook" not in repr(made)


@pytest.mark.parametrize(
    ("state", "direction", "run", "ended"),
    [
        ("RUNNING", "FORWARD", 1, (False, False)),
        ("READY", "FORWARD", 0, (True, False)),
        ("READY", "FORWARD", 1, (True, True)),
        ("READY", "BACKWARD", 1, (True, False)),
    ],
)
def test_a_step_queue_has_succeeded_when_its_run_went_forward_to_the_end(state, direction, run, ended):
    document = {"queue_id": 7, "name": "q", "queue_library": "l", "created_at": JOB["created_at"]}
    document |= {"state": state, "operation_direction": direction, "run": run}
    with served(answer(200, document)) as (_, client):
        queue = client.queue(7)
    assert (queue.finished, queue.succeeded) == ended
