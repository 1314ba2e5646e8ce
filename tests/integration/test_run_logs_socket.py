"""The socket that follows the log of a run."""

import pytest
from django.utils import timezone

from jobs import pubsub
from jobs.models import ApiToken
from jobs.run_logs.buffer import RunLog
from jobs.run_logs.lines import STDOUT, seq_of
from jobs.run_logs.writer import write
from tests.factories import a_job, a_user, an_office, fresh, running
from tests.integration.rest_support import forget_counts
from tests.integration.sockets import code_of, opened, receive
from tests.integration.web_process import running as web_process
from tests.workers import database_url

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="module")
def address(tmp_path_factory, django_db_setup):
    with web_process(tmp_path_factory.mktemp("web"), module="config.web", DATABASE_URL=database_url()) as web:
        yield f"ws://127.0.0.1:{web.port}"


def token_of(name: str) -> str:
    forget_counts()
    return ApiToken.issue(a_user(name), "test", timezone.now())[1]


def a_log() -> tuple[RunLog, str]:
    job = a_job(an_office(a_user("alice")))
    log = RunLog(running(job).claim, 2**20)
    return log, f"/ws/executions/{fresh(job).execution_id}/logs"


def say(log: RunLog, text: str) -> None:
    log.print(STDOUT, text)
    assert write(log)
    pubsub.publish_to([pubsub.RUN_LOG_CHANNEL.format(log.claim.execution_id)])


def lines_until(ws, last: str) -> list[str]:
    messages: list[str] = []
    while not messages or messages[-1] != last:
        event = receive(ws)
        if event["type"] == "lines":
            assert event["id"] == event["lines"][-1]["seq"]
            messages += [line["message"] for line in event["lines"]]
    return messages


def test_the_socket_follows_a_log_from_any_line(address):
    log, path = a_log()
    say(log, "one\ntwo\nthree\n")
    with opened(address, f"{path}?after={seq_of(1, 1)}", token_of("alice")) as ws:
        snapshot = receive(ws)
        assert (snapshot["type"], snapshot["last_id"]) == ("snapshot", seq_of(1, 1))
        assert snapshot["data"]["status"] == "RUNNING"
        assert lines_until(ws, "three") == ["two", "three"]
        say(log, "".join(f"{number}\n" for number in range(1_000)))
        assert lines_until(ws, "999") == [str(number) for number in range(1_000)]
    with opened(address, path, token_of("alice")) as ws:
        assert receive(ws)["last_id"] == seq_of(1, 1_003)
        say(log, "four\n")
        assert lines_until(ws, "four") == ["four"]


def test_other_users_cannot_follow_a_run_log(address):
    _, path = a_log()
    with opened(address, path, token_of("bob")) as ws:
        assert code_of(ws) == 4404
