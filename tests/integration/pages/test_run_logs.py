"""The log on the pages of a job and of a run, and on a page of its own."""

import pytest

from jobs.run_logs.buffer import RunLog
from jobs.run_logs.lines import LOG, STDOUT
from jobs.run_logs.writer import write
from tests.factories import a_job, a_run_by_hand, running
from tests.integration.pages.clients import at
from tests.schedule_factories import claim

pytestmark = pytest.mark.django_db


@pytest.fixture
def job(office):
    job = a_job(office)
    log = RunLog(running(job).claim, 2**20)
    log.print(STDOUT, "".join(f"<line {number}>\n" for number in range(1_200)))
    log.add(40, LOG, "app", ["\x1b[31mit broke"])
    assert write(log)
    return job


def messages(page) -> list[str]:
    return [entry.line.message for entry in page.context["log_lines"]]


def test_a_job_shows_the_end_of_its_log_and_the_way_to_earlier_lines(office, alice, job):
    page = alice.get(at(office, f"/jobs/{job.id}"))
    text = page.content.decode()
    assert (len(messages(page)), messages(page)[-2]) == (200, "<line 1199>")
    assert "&lt;line 1199&gt;" in text
    assert "\x1b" not in text
    execution = page.context["log_run"].pk
    assert f'data-socket="/ws/executions/{execution}/logs"' in text
    assert f"/api/offices/{office.id}/jobs/{job.id}/logs.txt" in text
    earlier = alice.get(page.context["log_earlier"])
    assert messages(earlier)[-1] == "<line 1000>"
    assert "data-socket" not in earlier.content.decode()
    assert messages(alice.get(earlier.context["log_earlier"]))[0] == "<line 0>"


def test_the_log_is_filtered_by_level_and_text(office, alice, job):
    address = at(office, f"/jobs/{job.id}/log")
    assert messages(alice.get(f"{address}?level=ERROR")) == ["\x1b[31mit broke"]
    assert messages(alice.get(f"{address}?q=LINE 77>")) == ["<line 77>"]
    assert messages(alice.get(f"{address}?attempt=2")) == []
    assert alice.get(f"{address}?level=LOUD&before=x").status_code == 200


def test_a_run_without_a_job_shows_its_log(alice):
    run = a_run_by_hand()
    log = RunLog(claim(run).claim, 2**20)
    log.print(STDOUT, "by hand\n")
    assert write(log)
    for address in (f"/executions/{run.id}", f"/executions/{run.id}/log"):
        assert messages(alice.get(address)) == ["by hand"]
