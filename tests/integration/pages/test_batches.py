"""The page of a batch: a drawing, or a list when there are too many jobs."""

import pytest

from jobs import lifecycle
from jobs.states import JobStatus
from tests.factories import done, fresh, running, submitted
from tests.integration.pages.clients import at, page_text, text_of

pytestmark = pytest.mark.django_db


def test_a_batch_is_drawn_with_its_critical_path(office, alice):
    a, *_ = submitted(
        office,
        {"ref": "a"},
        {"ref": "b", "depends_on": ["a"]},
        {"ref": "c", "depends_on": ["a", "b"]},
        name="x",
    )
    page = alice.get(at(office, f"/batches/{a.batch_id}"))
    assert [box.node.ref for box in page.context["drawing"].boxes] == ["a", "b", "c"]
    assert page.content.decode().count('class="critical"') == 2
    assert "0.0%" in page.content.decode()


def test_a_batch_of_thousands_is_a_list_without_a_graph(office, alice):
    (job, *_) = submitted(office, *({} for _ in range(1_200)), name="large")
    page = alice.get(at(office, f"/batches/{job.batch_id}"))
    assert page.context["drawing"] is None
    assert len(page.context["rows"]) == 1_000
    assert "and 200 more" in page.content.decode()


def test_a_batch_with_a_failure_shows_it_in_the_list_and_first_on_its_page(office, alice):
    good, bad, waiting = submitted(
        office, {"ref": "good"}, {"ref": "bad", "max_retries": 0}, {"depends_on": ["bad"]}, name="mixed"
    )
    done(good)
    running(bad).fail(error="the disk is full")
    text = page_text(alice, at(office, "/batches"))
    assert "1 job failed" in text
    page = alice.get(at(office, f"/batches/{bad.batch_id}"))
    assert [row.node.ref for row in page.context["rows"]] == ["bad", "good", ""]
    assert "the disk is full" in text_of(page)
    assert page.context["state"] == JobStatus.PENDING
    lifecycle.cancel(office.id, [waiting.id], actor="test")
    assert alice.get(at(office, f"/batches/{bad.batch_id}")).context["state"] == JobStatus.FAILED


def test_a_job_that_no_worker_has_claimed_is_queued_on_every_page(office, alice):
    sent, _ = submitted(office, {"ref": "sent"}, {"ref": "next", "depends_on": ["sent"]}, name="x")
    pages = ["/jobs", f"/jobs/{sent.id}", "/batches", f"/batches/{sent.batch_id}"]
    for path in pages:
        text = page_text(alice, at(office, path))
        assert ">◇</i>Queued" in text, path
        assert ">●</i>Running</span></td>" not in text, path
    assert fresh(sent).status == JobStatus.PROCESSING
    running(sent)
    for path in pages:
        assert ">●</i>Running" in page_text(alice, at(office, path)), path
