"""The list of an office's jobs: filters, pages, and bulk actions."""

import re
import uuid
from datetime import timedelta

import pytest
from django.db.models import Q
from django.utils import timezone

from jobs import lifecycle, search
from jobs.models import Event, Job
from jobs.states import EventType, JobStatus
from tests.factories import done, fresh, running, submitted
from tests.integration.pages.clients import at, form_fields, sign_in, text_of

pytestmark = pytest.mark.django_db


# --- the list --------------------------------------------------------------------------------------


def refs(page) -> list[str]:
    return [job.ref for job in page.context["page"].rows]


def test_the_filter_of_the_list_is_in_its_address(office, alice):
    first, *_ = submitted(
        office, {"ref": "a", "role": "BE"}, {"ref": "b", "role": "FE"}, {"ref": "c", "role": "BE"}, name="x"
    )
    done(first)
    assert refs(alice.get(at(office))) == ["c", "b", "a"]
    assert refs(alice.get(at(office) + "?status=done")) == ["a"]
    assert refs(alice.get(at(office) + "?role=BE")) == ["c", "a"]
    assert refs(alice.get(at(office) + "?role=BE&status=ready&status=processing")) == ["c"]
    assert refs(alice.get(at(office) + f"?batch={first.batch_id}&task_id=demo.sum")) == ["c", "b", "a"]
    assert refs(alice.get(at(office) + f"?batch={uuid.uuid4()}")) == []
    wrong = alice.get(at(office) + "?batch=nonsense&status=odd")
    assert wrong.status_code == 200
    assert b'role="alert"' in wrong.content
    assert refs(wrong) == []


def test_jobs_are_searched_by_text_and_by_time_of_creation(office, alice):
    broken, sums, _ = submitted(
        office,
        {"ref": "broken", "max_retries": 0},
        {"ref": "sums", "args": {"numbers": [4711]}},
        {"ref": "plain"},
        name="Release 7",
    )
    (other,) = submitted(office, {"ref": "other"}, name="nightly")
    running(broken).fail(error="The disk is full.", failure_type="permission_error")
    Job.objects.filter(pk=other.pk).update(created_at=timezone.now() - timedelta(days=2))
    for query, expected in (
        ("q=disk", ["broken"]),
        ("q=4711", ["sums"]),
        ("q=release", ["plain", "sums", "broken"]),
        (f"q={sums.id}", ["sums"]),
        (f"q={str(sums.id)[-8:]}", ["sums"]),
        ("q=release&status=failed", ["broken"]),
        ("range=24h", ["plain", "sums", "broken"]),
        ("range=custom&until=2001-01-01T00:00", []),
        ("range=custom&since=2001-01-01T00:00", ["other", "plain", "sums", "broken"]),
    ):
        assert refs(alice.get(at(office) + f"?{query}")) == expected, query
    page = text_of(alice.get(at(office) + "?q=disk"))
    assert "Permission denied" in page
    assert "The disk is full." in page
    alice.post(at(office, "/jobs/act"), {"verb": "cancel", "scope": "matching", "q": "471", "sure": "yes"})
    assert [fresh(job).status == JobStatus.CANCELLED for job in (sums, other)] == [True, False]


@pytest.mark.parametrize(
    "query",
    ["q=" + "x" * 201, "q=%00", "range=odd", "since=odd", "since=2002-01-01T00:00&until=2001-01-01T00:00"],
)
def test_a_search_of_jobs_that_makes_no_sense_lists_none(office, alice, query):
    submitted(office, {"ref": "a"})
    page = alice.get(at(office) + f"?{query}")
    assert refs(page) == []
    assert b'role="alert"' in page.content


def test_a_text_is_searched_in_the_newest_jobs_and_the_page_says_so(office, alice, monkeypatch):
    monkeypatch.setattr(search, "SEARCHED", 2)
    submitted(office, {"ref": "load 1"}, {"ref": "load 2"}, {"ref": "load 3"})
    page = alice.get(at(office) + "?q=load")
    assert refs(page) == ["load 3", "load 2"]
    assert "were searched" in text_of(page)


def test_pages_have_no_gap_and_no_overlap_while_jobs_arrive(office, alice):
    submitted(office, *({"ref": f"j{number}"} for number in range(120)), name="many")
    listed, address = [], at(office) + "?task_id=demo.sum"
    while True:
        page = alice.get(address)
        listed += refs(page)
        if not page.context["older"]:
            break
        submitted(office, {"ref": "late"})
        address = at(office) + page.context["older"]
    assert listed == [f"j{number}" for number in range(119, -1, -1)]
    back = alice.get(at(office) + page.context["newer"])
    assert refs(back) == [f"j{number}" for number in range(69, 19, -1)]
    assert "task_id=demo.sum" in page.context["newer"]


def test_an_invalid_cursor_is_ignored(office, alice):
    submitted(office, {"ref": "a"})
    assert refs(alice.get(at(office) + "?after=x&before=9999999999999999999999")) == ["a"]


# --- actions on many ----------------------------------------------------------------------------------


def test_the_confirmation_counts_what_is_skipped_and_changes_nothing(office, alice):
    first, second, third = submitted(office, {}, {}, {}, name="x")
    done(first)
    page = alice.post(
        at(office, "/jobs/act"), {"verb": "cancel", "scope": "matching", "batch": str(first.batch_id)}
    )
    assert page.status_code == 200
    preview = page.context["preview"]
    assert (preview.changed, preview.skipped, preview.skipped_by_state) == (2, 1, {JobStatus.DONE: 1})
    assert {fresh(job).status for job in (second, third)} == {JobStatus.PROCESSING, JobStatus.READY}


@pytest.mark.parametrize(("language", "text"), [("en", "State: ready"), ("ko", "상태: ready")])
def test_the_confirmation_says_which_filter_it_stands_for(office, alice, language, text):
    submitted(office, {"role": "BE"})
    form = {"verb": "cancel", "scope": "matching", "status": "ready", "q": "demo", "role": "BE"}
    page = text_of(sign_in("alice", language).post(at(office, "/jobs/act"), form))
    assert text in page
    assert "demo" in page


def test_matching_jobs_are_cancelled_and_no_others(office, alice):
    kept, *gone = submitted(office, {"role": "FE"}, {"role": "BE"}, {"role": "BE"}, name="x")
    form = {"verb": "cancel", "scope": "matching", "role": "BE", "sure": "yes", "reason": "not needed"}
    answer = alice.post(at(office, "/jobs/act"), form, follow=True)
    assert answer.redirect_chain == [(at(office) + "?role=BE", 302)]
    assert "2 jobs cancelled." in answer.content.decode()
    assert [fresh(job).status for job in gone] == [JobStatus.CANCELLED] * 2
    assert fresh(kept).status != JobStatus.CANCELLED
    event = Event.objects.filter(type=EventType.JOB_CANCELLED).last()
    assert event is not None
    assert (event.details["actor"], event.details["reason"]) == ("alice", "not needed")


def counted(page) -> dict[str, str]:
    """The hidden numbers of a confirmation form."""
    names = ("newest", "counted")
    return {
        name: match[1]
        for name in names
        if (match := re.search(rf'name="{name}" value="(\d+)"', page.content.decode()))
    }


@pytest.mark.parametrize(
    ("verb", "more", "changed"),
    [
        ("cancel", {}, Q(status=JobStatus.CANCELLED)),
        ("retry", {}, ~Q(status=JobStatus.CANCELLED)),
        ("reprioritise", {"priority": "7"}, Q(priority=7)),
    ],
)
def test_more_than_a_hundred_jobs_are_changed_only_after_typing_their_number(
    office, alice, verb, more, changed
):
    jobs = submitted(office, *({"role": "QA"} for _ in range(101)), {"role": "BE"}, name="many")
    if verb == "retry":
        lifecycle.cancel(office.id, [job.id for job in jobs], actor="test", reason="")
    matching, other = Job.objects.filter(office=office, ref="", role="QA"), jobs[-1]
    act, form = at(office, "/jobs/act"), {"verb": verb, "scope": "matching", "role": "QA", **more}
    confirm_page = alice.post(act, form)
    assert "Type 101 to confirm" in confirm_page.content.decode()
    sent = {**form, **counted(confirm_page), "sure": "yes"}
    for typed in ({}, {"typed": ""}, {"typed": "100"}, {"typed": "all"}):
        refused = alice.post(act, {**sent, **typed})
        assert refused.status_code == 400, typed
        assert b'role="alert"' in refused.content
    assert matching.filter(changed).count() == 0
    submitted(office, {"role": "QA", "ref": "came later"})
    assert alice.post(act, {**sent, "typed": "101"}).status_code == 302
    assert matching.filter(changed).count() == 101
    late = Job.objects.get(ref="came later")
    assert (late.status != JobStatus.CANCELLED, late.priority) == (True, 100)
    assert not Job.objects.filter(changed, pk=other.pk).exists()


def test_the_number_may_be_typed_as_it_is_shown(office, alice):
    submitted(office, *({"role": "QA"} for _ in range(1000)))
    act, form = at(office, "/jobs/act"), {"verb": "cancel", "scope": "matching"}
    confirm_page = alice.post(act, form)
    assert "Cancel 1,000 jobs" in text_of(confirm_page)
    assert "Type 1,000 to confirm" in text_of(confirm_page)
    sent = {**form, **counted(confirm_page), "sure": "yes"}
    assert alice.post(act, sent | {"typed": "1,001"}).status_code == 400
    assert "1,000 jobs cancelled." in text_of(alice.post(act, sent | {"typed": "1,000"}, follow=True))


def test_the_confirmation_names_the_batch_of_the_filter(office, alice):
    (job,) = submitted(office, {"ref": "one"}, name="Release 7")
    form = {"verb": "cancel", "scope": "matching", "batch": str(job.batch_id)}
    assert "Filter: Batch: Release 7" in text_of(alice.post(at(office, "/jobs/act"), form))


def test_all_matching_jobs_are_those_of_the_page_that_was_opened(office, alice):
    (listed,) = submitted(office, {"ref": "listed"})
    list_page = alice.get(at(office))
    (late,) = submitted(office, {"ref": "late"})
    sent = form_fields(list_page, at(office, "/jobs/act")) | {"verb": "cancel"}
    confirm_page = alice.post(at(office, "/jobs/act"), sent | {"scope": "matching"})
    assert "What was submitted after the page was opened is not part of it." in text_of(confirm_page)
    alice.post(at(office, "/jobs/act"), form_fields(confirm_page, at(office, "/jobs/act")) | {"sure": "yes"})
    assert fresh(listed).status == JobStatus.CANCELLED
    assert fresh(late).status != JobStatus.CANCELLED


def test_the_number_is_asked_for_again_if_more_jobs_match(office, alice):
    jobs = submitted(office, *({} for _ in range(103)), name="many")
    lifecycle.cancel(office.id, [job.id for job in jobs[:2]], actor="test", reason="")
    act, form = at(office, "/jobs/act"), {"verb": "cancel", "scope": "matching"}
    sent = {**form, **counted(alice.post(act, form)), "typed": "101", "sure": "yes"}
    lifecycle.retry(office.id, [jobs[0].id], actor="test", reason="")
    refused = alice.post(act, sent)
    assert refused.status_code == 400
    assert "More jobs match now." in refused.content.decode()
    assert counted(refused)["counted"] == "102"
    assert fresh(jobs[5]).status != JobStatus.CANCELLED


def test_selected_jobs_are_changed_without_typing_and_running_ones_are_counted(office, alice):
    first, *_ = submitted(office, {}, {}, name="x")
    running(first)
    page = alice.post(at(office, "/jobs/act"), {"verb": "cancel", "job": [str(first.id)]})
    assert "1 running job will be asked to stop." in page.content.decode()
    assert b'name="typed"' not in page.content


def test_an_invalid_filter_matches_no_job(office, alice):
    (job,) = submitted(office, {}, name="x")
    alice.post(
        at(office, "/jobs/act"), {"verb": "cancel", "scope": "matching", "batch": "odd", "sure": "yes"}
    )
    assert fresh(job).status != JobStatus.CANCELLED


def test_only_selected_jobs_are_retried(office, alice):
    first, second = submitted(office, {"max_retries": 0}, {"max_retries": 0}, name="x")
    for job in (first, second):
        running(job).fail()
    assert fresh(first).status == fresh(second).status == JobStatus.FAILED
    alice.post(at(office, "/jobs/act"), {"verb": "retry", "job": [str(first.id), "junk"], "sure": "yes"})
    assert fresh(first).status == JobStatus.PROCESSING
    assert fresh(second).status == JobStatus.FAILED


def test_the_priority_form_needs_one_kind_of_change(office, alice):
    jobs = submitted(office, {"priority": 5}, {"priority": 7}, name="x")
    act = at(office, "/jobs/act")
    nothing = alice.post(act, {"verb": "reprioritise", "scope": "matching", "sure": "yes"})
    assert nothing.status_code == 400
    both = {"verb": "reprioritise", "scope": "matching", "sure": "yes", "priority": "1", "delta": "2"}
    assert alice.post(act, both).status_code == 400
    assert [fresh(job).priority for job in jobs] == [5, 7]
    change = {"delta": "-3", "urgent": "true", "reason": "customers wait"}
    alice.post(act, {"verb": "reprioritise", "scope": "matching", "sure": "yes", **change})
    assert [(fresh(job).priority, fresh(job).urgent) for job in jobs] == [(2, True), (4, True)]
    page = alice.get(at(office, f"/jobs/{jobs[0].id}")).content.decode()
    assert "Priority changed" in page
    assert "reason: customers wait" in page
