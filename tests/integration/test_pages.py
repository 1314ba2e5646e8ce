"""The pages: whose they are, what they show, and that looking is not acting."""

import json
import re
import uuid
from datetime import timedelta

import pytest
from django.db.models import Q
from django.test import Client
from django.utils import timezone

from jobs import lifecycle
from jobs.models import Event, Job, Membership, Worker
from jobs.states import EventType, JobStatus, MemberRole
from scheduler.step_queues import lifecycle as steps
from tests.factories import a_user, an_office, done, fresh, submitted
from tests.integration.playing import running
from tests.integration.rest_support import forget_counts
from tests.step_factories import a_job as a_step
from tests.step_factories import a_queue
from tests.step_factories import claimed as claimed_step

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def fresh_counts():
    forget_counts()


@pytest.fixture
def office():
    return an_office(a_user("alice"), name="Alice's", max_concurrent_jobs=1)


def reader(name: str = "alice", **more) -> Client:
    client = Client(headers={"Accept-Language": "en"})
    client.force_login(a_user(name, **more))
    return client


@pytest.fixture
def alice(office):
    return reader()


def viewer(office) -> Client:
    Membership.objects.create(office=office, user=a_user("vera"), role=MemberRole.VIEWER)
    return reader("vera")


def at(office, rest: str = "/jobs") -> str:
    return f"/offices/{office.id}{rest}"


def pages_of(job: Job) -> list[str]:
    paths = ["/jobs", f"/jobs/{job.id}", f"/jobs/{job.id}/live", "/batches"]
    return [
        at(job.office, path) for path in [*paths, f"/batches/{job.batch_id}", f"/batches/{job.batch_id}/live"]
    ]


def test_who_is_not_signed_in_is_asked_to(office):
    (job,) = submitted(office, {}, name="b")
    for path in ["/", "/offices", *pages_of(job)]:
        answer = Client().get(path)
        assert answer.status_code == 302, path
        assert answer["Location"].startswith("/login?next=/"), path
    assert Client().get("/monitor/live")["HX-Redirect"] == "/login?next=/"


def test_somebody_elses_office_does_not_exist(office):
    (job,) = submitted(office, {"ref": "secret work"}, name="b")
    mallory = reader("mallory")
    assert {mallory.get(path).status_code for path in pages_of(job)} == {404}
    for path in (f"/jobs/{job.id}/cancel", "/jobs/act"):
        assert mallory.post(at(office, path), {"verb": "cancel", "job": str(job.id)}).status_code == 404
    assert fresh(job).status != JobStatus.CANCELLED
    for path in ("/", "/offices", "/monitor/live"):
        assert "secret work" not in mallory.get(path).content.decode()
        assert office.name not in mallory.get(path).content.decode()


def test_a_job_is_not_shown_in_another_office_of_the_same_reader(office, alice):
    other = an_office(a_user("alice"), name="other")
    (job,) = submitted(other, {}, name="b")
    assert alice.get(at(office, f"/jobs/{job.id}")).status_code == 404
    assert alice.get(at(office, f"/batches/{job.batch_id}")).status_code == 404
    form = {"verb": "cancel", "job": str(job.id)}
    asked = alice.post(at(office, "/jobs/act"), form).context["preview"]
    assert (asked.changed, asked.skipped) == (0, 0)
    alice.post(at(office, "/jobs/act"), {**form, "sure": "yes"})
    assert fresh(job).status != JobStatus.CANCELLED


def test_a_viewer_sees_everything_and_can_do_nothing(office):
    job, _ = submitted(office, {}, {}, name="b")
    vera = viewer(office)
    for path in pages_of(job):
        page = vera.get(path)
        assert page.status_code == 200, path
        assert b'name="verb"' not in page.content
        assert b"/cancel" not in page.content
    assert vera.post(at(office, f"/jobs/{job.id}/cancel")).status_code == 403
    form = {"verb": "cancel", "scope": "matching", "sure": "yes"}
    assert vera.post(at(office, "/jobs/act"), form).status_code == 403
    assert not Job.objects.filter(status=JobStatus.CANCELLED).exists()


def test_staff_look_into_every_office_and_act_in_none(office):
    (job,) = submitted(office, {}, name="b")
    steve = reader("steve", is_staff=True)
    assert {steve.get(path).status_code for path in pages_of(job)} == {200}
    assert steve.post(at(office, f"/jobs/{job.id}/cancel")).status_code == 403


def test_a_change_needs_a_post_with_its_csrf_token(office):
    (job,) = submitted(office, {}, name="b")
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(a_user("alice"))
    assert strict.get(at(office, f"/jobs/{job.id}/cancel")).status_code == 405
    assert strict.post(at(office, f"/jobs/{job.id}/cancel")).status_code == 403
    assert fresh(job).status != JobStatus.CANCELLED


def refs(page) -> list[str]:
    return [job.ref for job in page.context["page"].rows]


def test_the_filter_is_in_the_address(office, alice):
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


def test_pages_follow_each_other_without_gap_or_overlap_while_jobs_come_in(office, alice):
    submitted(office, *({"ref": f"j{number}"} for number in range(120)), name="many")
    found, address = [], at(office) + "?task_id=demo.sum"
    while True:
        page = alice.get(address)
        found += refs(page)
        if not page.context["older"]:
            break
        submitted(office, {"ref": "late"})
        address = at(office) + page.context["older"]
    assert found == [f"j{number}" for number in range(119, -1, -1)]
    back = alice.get(at(office) + page.context["newer"])
    assert refs(back) == [f"j{number}" for number in range(69, 19, -1)]
    assert "task_id=demo.sum" in page.context["newer"]


def test_a_place_that_is_nonsense_is_no_place(office, alice):
    submitted(office, {"ref": "a"})
    assert refs(alice.get(at(office) + "?after=x&before=9999999999999999999999")) == ["a"]


def test_the_confirmation_says_how_many_will_be_skipped_and_changes_nothing(office, alice):
    first, second, third = submitted(office, {}, {}, {}, name="x")
    done(first)
    page = alice.post(
        at(office, "/jobs/act"), {"verb": "cancel", "scope": "matching", "batch": str(first.batch_id)}
    )
    assert page.status_code == 200
    preview = page.context["preview"]
    assert (preview.changed, preview.skipped, preview.skipped_by_state) == (2, 1, {JobStatus.DONE: 1})
    assert {fresh(job).status for job in (second, third)} == {JobStatus.PROCESSING, JobStatus.READY}


def test_all_that_match_are_cancelled_and_nothing_else(office, alice):
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
    """What the form of a confirmation sends along by itself."""
    names = ("until", "counted")
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
def test_more_than_a_hundred_that_match_are_changed_only_when_their_number_is_typed(
    office, alice, verb, more, changed
):
    jobs = submitted(office, *({"role": "QA"} for _ in range(101)), {"role": "BE"}, name="many")
    if verb == "retry":
        lifecycle.cancel(office.id, [job.id for job in jobs], actor="test", reason="")
    matching, other = Job.objects.filter(office=office, ref="", role="QA"), jobs[-1]
    act, form = at(office, "/jobs/act"), {"verb": verb, "scope": "matching", "role": "QA", **more}
    shown = alice.post(act, form)
    assert "Type 101 to say that you mean all of them" in shown.content.decode()
    sent = {**form, **counted(shown), "sure": "yes"}
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


def test_when_more_match_by_now_the_number_is_asked_for_again(office, alice):
    jobs = submitted(office, *({} for _ in range(103)), name="many")
    lifecycle.cancel(office.id, [job.id for job in jobs[:2]], actor="test", reason="")
    act, form = at(office, "/jobs/act"), {"verb": "cancel", "scope": "matching"}
    sent = {**form, **counted(alice.post(act, form)), "typed": "101", "sure": "yes"}
    lifecycle.retry(office.id, [jobs[0].id], actor="test", reason="")
    refused = alice.post(act, sent)
    assert refused.status_code == 400
    assert "There are more of them by now." in refused.content.decode()
    assert counted(refused)["counted"] == "102"
    assert fresh(jobs[5]).status != JobStatus.CANCELLED


def test_a_page_of_ticked_ones_is_changed_without_typing_and_what_runs_is_named(office, alice):
    first, *_ = submitted(office, {}, {}, name="x")
    running(first)
    page = alice.post(at(office, "/jobs/act"), {"verb": "cancel", "job": [str(first.id)]})
    assert "1 of them runs now, and will be told to stop." in page.content.decode()
    assert b'name="typed"' not in page.content


def test_a_wrong_filter_matches_no_job_rather_than_all(office, alice):
    (job,) = submitted(office, {}, name="x")
    alice.post(
        at(office, "/jobs/act"), {"verb": "cancel", "scope": "matching", "batch": "odd", "sure": "yes"}
    )
    assert fresh(job).status != JobStatus.CANCELLED


def test_only_the_ticked_ones_run_again(office, alice):
    first, second = submitted(office, {"max_retries": 0}, {"max_retries": 0}, name="x")
    for job in (first, second):
        running(job).fail()
    assert fresh(first).status == fresh(second).status == JobStatus.FAILED
    alice.post(at(office, "/jobs/act"), {"verb": "retry", "job": [str(first.id), "junk"], "sure": "yes"})
    assert fresh(first).status == JobStatus.PROCESSING
    assert fresh(second).status == JobStatus.FAILED


def test_a_job_whose_unique_key_is_taken_is_skipped_and_the_others_run_again(office, alice):
    old, other = submitted(office, {"unique_key": "k", "max_retries": 0}, {"max_retries": 0}, name="x")
    for job in (old, other):
        running(job).fail()
    submitted(office, {"unique_key": "k"})
    form = {"verb": "retry", "job": [str(old.id), str(other.id)], "sure": "yes"}
    answer = alice.post(at(office, "/jobs/act"), form, follow=True)
    assert fresh(old).status == JobStatus.FAILED
    assert fresh(other).status == JobStatus.READY
    assert "1 job will run again. 1 were skipped" in answer.content.decode()


def test_the_place_of_many_is_changed_only_as_said(office, alice):
    jobs = submitted(office, {"priority": 5}, {"priority": 7}, name="x")
    act = at(office, "/jobs/act")
    nothing = alice.post(act, {"verb": "reprioritise", "scope": "matching", "sure": "yes"})
    assert nothing.status_code == 400
    both = {"verb": "reprioritise", "scope": "matching", "sure": "yes", "priority": "1", "delta": "2"}
    assert alice.post(act, both).status_code == 400
    assert [fresh(job).priority for job in jobs] == [5, 7]
    wanted = {"delta": "-3", "urgent": "true", "reason": "customers wait"}
    alice.post(act, {"verb": "reprioritise", "scope": "matching", "sure": "yes", **wanted})
    assert [(fresh(job).priority, fresh(job).urgent) for job in jobs] == [(2, True), (4, True)]
    page = alice.get(at(office, f"/jobs/{jobs[0].id}")).content.decode()
    assert "priority changed" in page
    assert "reason: customers wait" in page


def test_a_job_shows_its_attempts_why_it_waits_and_what_it_was_given(office, alice):
    first, second = submitted(
        office,
        {
            "ref": "first",
            "task_id": "http.request",
            "args": {"method": "GET", "url": "https://a.example", "headers": {"Authorization": "Bearer abc"}},
        },
        {"ref": "second", "depends_on": ["first"]},
        name="x",
    )
    running(first, worker="w7@test").fail(error="it broke <b>", delay_ms=60_000)
    page = alice.get(at(office, f"/jobs/{first.id}")).content.decode()
    assert "w7@test" in page
    assert "it broke &lt;b&gt;" in page
    assert "Waits for its next attempt, at " in page
    assert "https://a.example" in page
    assert "Bearer abc" not in page
    assert f"/jobs/{second.id}" in page
    assert "Waits for first." in alice.get(at(office, f"/jobs/{second.id}")).content.decode()


def test_a_running_job_shows_its_lease_its_heartbeat_and_its_place_in_the_graph(office, alice):
    first, second, _ = submitted(
        office,
        {"ref": "first"},
        {"ref": "second", "depends_on": ["first"]},
        {"ref": "third", "depends_on": ["first", "second"]},
        name="x",
    )
    done(first)
    running(second, worker="w7@test")
    now = timezone.now()
    Worker.objects.create(name="w7@test", started_at=now, seen_at=now - timedelta(seconds=7))
    page = alice.get(at(office, f"/jobs/{second.id}"))
    text = page.content.decode()
    assert page.context["current"].worker == "w7@test"
    assert "Lease until" in text
    assert page.context["heard"].name == "w7@test"
    assert "</time> ago" in text
    drawing = page.context["drawing"]
    assert {box.node.ref: box.critical for box in drawing.boxes} == {
        "first": False,
        "second": True,
        "third": False,
    }
    assert len(drawing.lines) == 3
    assert f"/batches/{first.batch_id}#box-{second.id}" in text
    ended = alice.get(at(office, f"/jobs/{first.id}"))
    assert ended.context["current"] is None


def test_of_many_neighbours_a_few_are_drawn_and_the_others_listed(office, alice):
    parents = [{"ref": f"p{number}"} for number in range(9)]
    *_, last = submitted(
        office, *parents, {"ref": "last", "depends_on": [one["ref"] for one in parents]}, name="x"
    )
    page = alice.get(at(office, f"/jobs/{last.id}"))
    assert len(page.context["drawing"].boxes) == 7
    assert "3 neighbours more are in the lists below." in page.content.decode()
    assert len(page.context["parents"]) == 9


def test_what_a_program_wrote_is_shown_by_its_end_and_without_control_characters(office, alice):
    (job,) = submitted(office, {"task_id": "command.run", "args": {"command": "echo"}}, name="x")
    written = "x" * 30_000 + "\x1b[31mred\x1b[0m <b>\x07\nlast line\n"
    result = {"exit_code": 0, "output_tail": written}
    running(job).finish(result=json.dumps(result))
    page = alice.get(at(office, f"/jobs/{job.id}"))
    output = page.context["output"]
    assert output.tail.endswith("xred <b>\nlast line\n")
    assert (output.cut, output.result) == (True, {"exit_code": 0})
    assert "red &lt;b&gt;\nlast line" in page.content.decode()
    assert len(page.content) < 40_000


def test_a_large_result_is_not_sent_again_and_again_whole(office, alice):
    (job,) = submitted(office, {}, name="x")
    running(job).finish(result=json.dumps(["y" * 100_000]))
    page = alice.get(at(office, f"/jobs/{job.id}"))
    assert len(page.content) < 40_000
    assert "characters more" in page.content.decode()


def test_one_job_is_cancelled_and_run_again_by_its_page(office, alice):
    (job,) = submitted(office, {}, name="x")
    answer = alice.post(at(office, f"/jobs/{job.id}/cancel"), {"reason": "enough"}, follow=True)
    assert "1 job cancelled." in answer.content.decode()
    assert fresh(job).status == JobStatus.CANCELLED
    again = alice.post(at(office, f"/jobs/{job.id}/cancel"), follow=True)
    assert "no longer in a state" in again.content.decode()
    alice.post(at(office, f"/jobs/{job.id}/retry"))
    assert fresh(job).status == JobStatus.PROCESSING
    alice.post(at(office, f"/jobs/{job.id}/reprioritise"), {"priority": "3"})
    assert fresh(job).priority == 3
    assert alice.post(at(office, f"/jobs/{job.id}/explode")).status_code == 404


def test_a_batch_is_drawn_with_its_longest_chain(office, alice):
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


def test_a_batch_of_thousands_is_a_list(office, alice):
    (job, *_) = submitted(office, *({} for _ in range(1_200)), name="large")
    page = alice.get(at(office, f"/batches/{job.batch_id}"))
    assert page.context["drawing"] is None
    assert len(page.context["rows"]) == 1_000
    assert "and 200 more" in page.content.decode()


def test_the_monitor_counts_what_is_mine_and_shows_what_runs_and_failed(office, alice):
    first, second, third = submitted(
        office, {"ref": "broken", "max_retries": 0}, {"ref": "busy"}, {"ref": "in line"}, name="x"
    )
    running(first).fail()
    running(second, worker="w9@test")
    page = alice.get("/")
    assert page.context["tiles"] == {"waiting": 1, "running": 1, "done": 0, "failed": 1}
    text = page.content.decode()
    assert "broken" in text
    assert "w9@test" in text
    assert third.ref not in text


def test_the_monitor_shows_nothing_of_somebody_elses_work(office, alice):
    of_bob = [{"ref": f"bob {number}", "max_retries": 0} for number in range(4)]
    broken, busy, stuck, _ = submitted(an_office(a_user("bob"), name="Bob's", max_concurrent_jobs=3), *of_bob)
    running(broken).fail(error="of bob")
    running(busy)
    late = fresh(stuck).execution
    assert late is not None
    late.dispatched_at = timezone.now() - timedelta(minutes=2)
    late.save(update_fields=["dispatched_at"])
    page = alice.get("/")
    assert "bob" not in page.content.decode().lower()
    assert page.context["tiles"] == {"waiting": 0, "running": 0, "done": 0, "failed": 0}
    shown = reader("steve", is_staff=True).get("/").content.decode()
    assert all(ref in shown for ref in ("bob 0", "bob 1", "bob 2"))


def test_what_waits_for_others_is_counted_for_staff_and_operations_of_queues_are_linked(office, alice):
    submitted(office, {"ref": "a"}, {"ref": "b", "depends_on": ["a"]}, {"ref": "c"}, name="x")
    queue = a_queue(a_step(), owner=a_user("alice"))
    steps.run(queue.queue_id)
    for client in (alice, reader("steve", is_staff=True)):
        page = client.get("/")
        assert (page.context["tiles"]["waiting"], page.context["tiles"]["running"]) == (3, 1)
    claimed_step(queue)
    page = alice.get("/")
    assert (page.context["tiles"]["waiting"], page.context["tiles"]["running"]) == (2, 2)
    assert f'href="/step-queues/{queue.queue_id}"' in page.content.decode()


def test_flower_is_linked_for_staff_alone_and_only_where_it_is_known(office, alice, settings):
    (job,) = submitted(office, {"ref": "a"}, name="x")
    running(job)
    settings.DURE_FLOWER_URL = "https://flower.example"
    link = f"https://flower.example/tasks?name=demo.sum%20args%3A{fresh(job).execution_id}"
    steve = reader("steve", is_staff=True)
    assert link in steve.get(at(office, f"/jobs/{job.id}")).content.decode()
    assert "https://flower.example/" in steve.get("/").content.decode()
    for path in ("/", at(office, f"/jobs/{job.id}")):
        assert "flower.example" not in alice.get(path).content.decode()
    settings.DURE_FLOWER_URL = ""
    assert "Flower" not in steve.get(at(office, f"/jobs/{job.id}")).content.decode()


def test_a_failure_that_was_run_again_comes_after_one_that_was_not(office, alice):
    old, new = submitted(office, {"ref": "old", "max_retries": 0}, {"ref": "new", "max_retries": 0}, name="x")
    running(old).fail()
    running(new).fail()
    alice.post(at(office, f"/jobs/{new.id}/retry"))
    rows = alice.get("/").context["failures"]
    assert [(row["run"].job.ref, row["handled"]) for row in rows] == [("old", False), ("new", True)]


def test_what_no_worker_takes_is_delayed_and_the_monitor_says_why(office, alice):
    (job,) = submitted(office, {"ref": "stuck", "role": "QA"}, name="x")
    run = fresh(job).execution
    assert run is not None
    assert alice.get("/").context["delayed"] == []
    run.dispatched_at = timezone.now() - timedelta(minutes=2)
    run.save(update_fields=["dispatched_at"])
    text = alice.get("/").content.decode()
    assert "No worker takes work of the role QA." in text
    assert "stuck" in text


def test_a_page_is_in_the_language_that_was_chosen(office):
    client = Client(headers={"Accept-Language": "en"})
    assert "Sign in" in client.get("/login").content.decode()
    client.post("/language", {"language": "ko", "next": "/login"})
    page = client.get("/login").content.decode()
    assert '<html lang="ko">' in page
    assert "로그인" in page
    client.force_login(a_user("alice"))
    assert "최근 실패" in client.get("/").content.decode()


def test_signing_in_leads_to_where_one_wanted_to_go_and_nowhere_else():
    user = a_user("carol")
    user.set_password("correct horse")
    user.save()
    form = {"username": "carol", "password": "correct horse"}
    assert Client().post("/login", {**form, "next": "/offices"})["Location"] == "/offices"
    assert Client().post("/login", {**form, "next": "https://evil.example/"})["Location"] == "/"
    wrong = Client().post("/login", {**form, "password": "wrong"})
    assert wrong.status_code == 200
    assert b'role="alert"' in wrong.content


def test_signing_in_is_throttled(settings):
    rates = {**settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"], "login": "3/min"}
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "DEFAULT_THROTTLE_RATES": rates}
    form = {"username": "carol", "password": "wrong"}
    assert [Client().post("/login", form).status_code for _ in range(4)] == [200, 200, 200, 429]


def test_signing_out_needs_a_post(alice):
    assert alice.get("/logout").status_code == 405
    assert alice.post("/logout")["Location"] == "/login"
    assert alice.get("/").status_code == 302


def test_no_page_needs_more_than_its_own_server(office, alice):
    (job,) = submitted(office, {}, name="x")
    for path in ["/", "/offices", *pages_of(job)]:
        page = alice.get(path)
        assert "default-src 'self'" in page["Content-Security-Policy"]
        text = page.content.decode().replace('xmlns="http://www.w3.org/2000/svg"', "")
        for forbidden in (' style="', "<style", "onclick", "<script>", 'src="http', "hx-on"):
            assert forbidden not in text, (path, forbidden)
