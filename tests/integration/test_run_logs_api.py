"""The logs of runs over REST, the socket, and the command line: who may read them, and what they answer."""

from io import StringIO
from threading import Thread

import pytest
from django.core.management import call_command

from jobs.models import Execution, Membership
from jobs.run_logs.buffer import RunLog
from jobs.run_logs.lines import LOG, STDERR, STDOUT, seq_of
from jobs.run_logs.writer import write
from jobs.states import MemberRole
from tests.factories import a_job, a_user, an_office, fresh, running
from tests.integration.commands import run
from tests.workers import eventually

pytestmark = pytest.mark.django_db


@pytest.fixture
def job():
    job = a_job(an_office(a_user("alice")))
    log = RunLog(running(job).claim, 2**20)
    log.print(STDOUT, "두레\n")
    log.add(40, LOG, "app.deploy", ["it broke\nhere"])
    log.print(STDERR, "no cache\n")
    assert write(log)
    return fresh(job)


def addresses(job):
    return (f"/api/executions/{job.execution_id}/logs", f"/api/offices/{job.office_id}/jobs/{job.id}/logs")


def address_without_run():
    waiting = a_job(an_office(a_user("alice"), paused=True))
    return f"/api/offices/{waiting.office_id}/jobs/{waiting.id}/logs"


def signed_in(client, name):
    client.force_login(a_user(name))
    return client


def test_a_log_has_the_fields_of_the_contract(client, job):
    for address in addresses(job):
        answer = signed_in(client, "alice").get(address).json()
        assert list(answer) == ["results", "next_after", "truncated"]
        assert [tuple(line.values())[2:] for line in answer["results"]] == [
            (1, "INFO", "stdout", None, "두레"),
            (1, "ERROR", "log", "app.deploy", "it broke\nhere"),
            (1, "WARNING", "stderr", None, "no cache"),
        ]
        assert list(answer["results"][0])[:2] == ["seq", "at"]
        assert answer["results"][0]["at"].endswith("+09:00")
        assert (answer["next_after"], answer["truncated"]) == (seq_of(1, 3), False)


def test_a_log_is_read_in_pages_by_level_and_attempt(client, job):
    address = addresses(job)[0]
    first = signed_in(client, "alice").get(f"{address}?limit=2").json()
    rest = client.get(f"{address}?after={first['next_after']}").json()
    assert (len(first["results"]), len(rest["results"])) == (2, 1)
    end = client.get(f"{address}?after={rest['next_after']}").json()
    assert (end["results"], end["next_after"]) == ([], rest["next_after"])
    severe = client.get(f"{address}?level=ERROR").json()["results"]
    assert [line["message"] for line in severe] == ["it broke\nhere"]
    assert client.get(f"{address}?attempt=2").json()["results"] == []


def test_a_log_is_downloaded_as_text(client, job):
    for address in addresses(job):
        answer = signed_in(client, "alice").get(f"{address}.txt?level=WARNING")
        assert client.get(f"{address}.txt", headers={"Accept": "text/plain"}).status_code == 200
        assert answer["Content-Type"] == "text/plain; charset=utf-8"
        assert "attachment" in answer["Content-Disposition"]
        text = b"".join(answer).decode()
        assert "ERROR app.deploy: it broke\nhere\n" in text
        assert text.endswith("1 WARNING stderr: no cache\n")


@pytest.mark.parametrize("query", ["after=-1", "limit=0", "limit=1001", "level=LOUD", "attempt=x", "other=1"])
def test_bad_parameters_are_refused(client, job, query):
    for address in [*addresses(job), address_without_run()]:
        assert signed_in(client, "alice").get(f"{address}?{query}").status_code == 400


@pytest.mark.parametrize("query", ["level=LOUD", "attempt=-1", "after=1"])
def test_bad_parameters_of_a_file_are_refused(client, job, query):
    for address in [*addresses(job), address_without_run()]:
        assert signed_in(client, "alice").get(f"{address}.txt?{query}").status_code == 400


def test_the_log_of_a_job_is_for_the_members_of_its_office(client, job):
    address = addresses(job)[0]
    assert signed_in(client, "bob").get(address).status_code == 404
    Membership.objects.create(office_id=job.office_id, user=a_user("bob"), role=MemberRole.VIEWER)
    assert client.get(address).status_code == 200


def test_a_job_without_a_run_has_an_empty_log(client):
    office = an_office(a_user("alice"), paused=True)
    job = a_job(office)
    answer = signed_in(client, "alice").get(f"/api/offices/{office.id}/jobs/{job.id}/logs").json()
    assert answer == {"results": [], "next_after": 0, "truncated": False}
    assert not Execution.objects.exists()


# --- manage.py logs ----------------------------------------------------------------------------------


def test_the_command_prints_the_log_of_a_job_and_of_an_execution(job):
    for identity in (job.id, job.execution_id):
        lines = run("logs", identity).lines
        assert lines[1].endswith(" 1 ERROR app.deploy: it broke")
        assert lines[2] == "    here"
        assert len(lines) == 4
    assert run("logs", job.id, "--level", "error").out.count("\n") == 2
    assert run("logs", job.id, "--attempt", 2).out == ""
    assert "no Execution and no job" in run("logs", job.office_id).err


@pytest.mark.django_db(transaction=True)
def test_the_command_follows_a_run_until_its_end():
    job = a_job(an_office())
    claimed = running(job)
    out, log = StringIO(), RunLog(claimed.claim, 2**20)
    follower = Thread(target=lambda: call_command("logs", str(job.id), "-f", stdout=out))
    follower.start()
    for number in range(3):
        log.print(STDOUT, f"line {number}\n")
        assert write(log)
        eventually(lambda text=f"line {number}\n": text in out.getvalue(), what=f"line {number}")
    assert follower.is_alive()
    log.print(STDOUT, "\x1b[31mthe last one\n")
    assert write(log)
    claimed.finish()
    follower.join(60)
    assert not follower.is_alive()
    assert out.getvalue().endswith("stdout:  [31mthe last one\n")
