"""The page of a batch: its drawing, in groups when there are too many jobs, and its timeline."""

import gzip
import re
from datetime import UTC, datetime

import pytest

from jobs import lifecycle
from jobs.models import Batch
from jobs.states import JobStatus
from tests.factories import done, fresh, running, submitted
from tests.integration.pages.clients import at, page_text, sign_in, text_of

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
    assert [box.node.ref for box in page.context["graph"].drawing.boxes] == ["a", "b", "c"]
    assert page.content.decode().count('class="critical"') == 2
    assert "0%" in text_of(page)
    assert "0.0%" not in text_of(page)


def test_a_batch_of_thousands_is_drawn_in_groups_that_open(office, alice):
    jobs = [{"ref": f"load-{n}"} for n in range(600)] + [{"ref": f"sum-{n}"} for n in range(600)]
    job, *_ = submitted(office, *jobs, name="large")
    path = at(office, f"/batches/{job.batch_id}")
    page = alice.get(path)
    graph = page.context["graph"]
    assert [(box.name, box.node.total) for box in graph.drawing.boxes] == [("load", 600), ("sum", 600)]
    assert "?group=name&amp;open=load" in page.content.decode()
    opened = alice.get(path + "?group=name&open=load")
    # 200 of its jobs, the rest of it, and the other group.
    assert len(opened.context["graph"].drawing.boxes) == 202
    assert f"/batches/{job.batch_id}/live?group=name&amp;open=load" in opened.content.decode()
    by_task = alice.get(path + "/live?group=task").context["graph"]
    assert [box.node.total for box in by_task.drawing.boxes] == [1_200]


def test_the_page_of_five_hundred_jobs_is_small(office, alice):
    jobs = [
        {"ref": f"n{n}", "depends_on": [f"n{n - 25}", f"n{n - 26 - n * 7 % 24}"] if n >= 50 else []}
        for n in range(500)
    ]
    job, *_ = submitted(office, *jobs, name="500 jobs")
    page = alice.get(at(office, f"/batches/{job.batch_id}"), headers={"accept-encoding": "gzip"})
    assert page.headers["Content-Encoding"] == "gzip"
    assert len(page.content) < 37_000
    assert len(re.findall(rb"<[a-z]", gzip.decompress(page.content))) < 10_000


@pytest.mark.parametrize(
    "query", ["?group=odd&rows=odd&open=odd", "?group=job&open=load", "?group=&open=%00"]
)
def test_a_batch_whose_address_makes_no_sense_is_shown_as_usual(office, alice, query):
    a, *_ = submitted(office, {"ref": "load-1"}, {"ref": "load-2"}, name="x")
    page = alice.get(at(office, f"/batches/{a.batch_id}") + query)
    assert [box.node.ref for box in page.context["graph"].drawing.boxes] == ["load-1", "load-2"]
    assert len(page.context["rows"]) == 2


def test_a_timeline_has_a_hundred_rows_at_first_and_all_or_the_failed_ones_on_request(office, alice):
    job, *_ = submitted(office, *({"max_retries": 0} for _ in range(120)), name="long")
    running(job).fail(error="the disk is full")
    path = at(office, f"/batches/{job.batch_id}")
    page = alice.get(path)
    assert len(page.context["rows"]) == 100
    assert "and 20 more" in page.content.decode()
    assert len(alice.get(path + "?rows=all").context["rows"]) == 120
    (row,) = alice.get(path + "?rows=failed").context["rows"]
    assert row.node.id == str(job.id)
    # What the card of a node tells.
    assert f'data-attempts="{row.node.attempts}" data-error="the disk is full"' in page.content.decode()
    assert row.node.attempts == 1


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
    assert page.context["progress"].state == JobStatus.PENDING
    lifecycle.cancel(office.id, [waiting.id], actor="test")
    page = alice.get(at(office, f"/batches/{bad.batch_id}"))
    assert page.context["progress"].state == JobStatus.FAILED
    # "100%" would look like a success.
    for text in (text_of(page), page_text(alice, at(office, "/batches"))):
        assert "1 of 3 succeeded" in text
        assert "100%" not in text


def test_progress_has_a_decimal_only_where_it_has_one(office, alice):
    first, second, third = submitted(office, {}, {}, {}, name="three")
    for job, percent in ((first, "33.3%"), (second, "66.6%"), (third, "100%")):
        done(job)
        assert percent in page_text(alice, at(office, "/batches"))


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


@pytest.mark.parametrize(
    ("language", "label"), [("en", "Batch of 2026-11-20 14:03:05"), ("ko", "2026-11-20 14:03:05 배치")]
)
def test_a_batch_without_a_name_is_called_by_its_time(office, language, label):
    jobs = submitted(office, {"ref": "a"}, {"ref": "b"})
    batch = jobs[0].batch
    Batch.objects.filter(pk=batch.pk).update(created_at=datetime(2026, 11, 20, 5, 3, 5, tzinfo=UTC))
    reader = sign_in(language=language)
    confirmation = {"scope": "matching", "batch": str(batch.pk), "verb": "cancel"}
    texts = {
        "list": page_text(reader, at(office, "/batches")),
        "page": page_text(reader, at(office, f"/batches/{batch.pk}")),
        "breadcrumb": page_text(reader, at(office, f"/jobs/{jobs[0].pk}")),
        "runs": page_text(reader, f"/runs?batch={batch.pk}"),
        "confirmation": text_of(reader.post(at(office, "/jobs/act"), confirmation)),
    }
    assert [place for place, text in texts.items() if label not in text] == []
    assert [place for place, text in texts.items() if f">{batch.pk}<" in text] == ["page"]
    assert f'<dd class="mono">{batch.pk}</dd>' in texts["page"]
