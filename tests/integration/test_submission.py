"""A submission is validated before anything is written."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import registry, submission
from jobs.errors import Invalid, TooLarge
from jobs.models import Office
from tests.factories import a_job, an_office, submitted

pytestmark = pytest.mark.django_db

ONE = {"task_id": "demo.sum", "args": {"numbers": [1]}}


@pytest.fixture
def office() -> Office:
    return an_office(default_timeout_ms=7_000, default_timeout_by_role={"QA": 9_000}, max_retries=4)


def read_one(office: Office, **fields):
    return submission.read(office, {**ONE, **fields}).jobs[0]


def refused(office: Office, body) -> dict[str, list[str]]:
    with pytest.raises(Invalid) as caught:
        submission.read(office, body)
    return caught.value.errors_in_english()


def test_the_settings_of_the_office_are_the_defaults(office):
    job = read_one(office)
    assert (job["timeout_ms"], job["max_retries"], job["retry_backoff"]) == (7_000, 4, "exponential")
    assert (job["role"], job["priority"], job["urgent"]) == ("default", 100, False)
    assert read_one(office, role="QA")["timeout_ms"] == 9_000


def test_submitted_values_take_precedence(office):
    job = read_one(office, timeout_ms=5, max_retries=0, retry_backoff="linear", retry_base_delay=0)
    assert (job["timeout_ms"], job["max_retries"], job["retry_backoff"]) == (5, 0, "linear")
    assert job["retry_base_delay_ms"] == 0


def test_a_task_that_only_the_system_starts_is_refused(office):
    hidden = [task for task in registry.all_tasks() if not task.public]
    assert hidden
    assert "Only the system starts" in refused(office, {"task_id": hidden[0].task_id})["task_id"][0]


def test_all_errors_are_listed_at_once(office):
    errors = refused(office, {"jobs": [{"task_id": "no"}, {**ONE, "priority": "high", "what": 1}]})
    assert set(errors) == {"jobs.0.task_id", "jobs.1.priority", "jobs.1.what"}


def test_the_list_of_errors_has_a_maximum(office, django_assert_max_num_queries):
    with django_assert_max_num_queries(3):  # an unknown Task is looked for once
        errors = refused(office, {"jobs": [{"task_id": "no"}] * 500})
    assert len(errors) == submission.SHOWN_ERRORS


@pytest.mark.parametrize("body", [None, [], "job", 3])
def test_a_submission_is_an_object(office, body):
    assert "body" in refused(office, body)


@pytest.mark.parametrize("value", [True, 1.5, "1", 2**31, -(2**31) - 1])
def test_a_priority_is_a_whole_number_of_32_bits(office, value):
    assert list(refused(office, {**ONE, "priority": value})) == ["priority"]


def test_args_are_measured(office, settings):
    settings.DURE_MAX_ARGS_BYTES = 1_024
    assert read_one(office, args={"numbers": list(range(100))})
    with pytest.raises(TooLarge):
        submission.read(office, {**ONE, "args": {"numbers": list(range(1_000))}})


def test_args_of_large_characters_are_measured_in_bytes(office, settings):
    settings.DURE_MAX_ARGS_BYTES = 1_024
    text = "가" * 400
    assert len(json.dumps(text, ensure_ascii=False).encode()) > 1_024
    with pytest.raises(TooLarge):
        submission.read(office, {"task_id": "demo.fail", "args": {"message": text}})


def test_edges_are_counted_before_anything_is_checked(office, settings):
    settings.DURE_MAX_EDGES_PER_SUBMISSION = 2
    with pytest.raises(TooLarge, match="edges"):
        submission.read(office, {"jobs": [{**ONE, "depends_on": ["x", "y", "z"]}]})


def test_a_ref_comes_before_an_id_of_the_same_text(office):
    old = a_job(office)
    prepared = submission.read(
        office, {"jobs": [{**ONE, "ref": str(old.id)}, {**ONE, "depends_on": [str(old.id)]}]}
    )
    assert prepared.edges == [(str(prepared.jobs[1]["id"]), str(prepared.jobs[0]["id"]), 0)]
    assert prepared.joined == []


def test_the_same_job_by_its_ref_and_by_its_id_is_one_dependency_too_many(office):
    (old,) = submitted(office, {"ref": "old"})
    upper = str(old.id).upper()
    assert "jobs.0.depends_on" in refused(office, {"jobs": [{**ONE, "depends_on": [str(old.id), upper]}]})


def test_jobs_of_another_office_cannot_be_depended_on(office):
    elsewhere = a_job(an_office())
    assert list(refused(office, {**ONE, "depends_on": [str(elsewhere.id)]})) == ["depends_on"]


def test_a_batch_of_another_office_cannot_be_added_to(office):
    (elsewhere,) = submitted(an_office(), {}, name="theirs")
    body = {"batch": {"id": str(elsewhere.batch_id)}, "jobs": [ONE]}
    assert list(refused(office, body)) == ["batch.id"]


def test_roots_are_separate_from_jobs_that_depend_on_existing_ones(office):
    old = a_job(office)
    prepared = submission.read(
        office,
        {
            "jobs": [
                {**ONE, "ref": "a"},
                {**ONE, "depends_on": ["a"]},
                {**ONE, "depends_on": ["a", str(old.id)]},
            ]
        },
    )
    ids = [job["id"] for job in prepared.jobs]
    assert prepared.roots == [ids[0]]
    assert prepared.joined == [ids[2]]
    assert [job["dependency_count"] for job in prepared.jobs] == [0, 1, 2]


def test_a_time_needs_an_offset_and_lies_within_ten_years(office):
    for wrong in ("tomorrow", "2026-12-01", "2026-12-01T09:00:00", 5):
        assert list(refused(office, {**ONE, "run_at": wrong})) == ["run_at"]
    far = (timezone.now() + timedelta(days=4_000)).isoformat()
    assert list(refused(office, {**ONE, "run_at": far})) == ["run_at"]
    assert read_one(office, run_at="2026-12-01T09:00:00+09:00")["run_at"] == "2026-12-01T00:00:00+00:00"


def test_a_long_cycle_has_a_short_message_and_a_full_list(office):
    count = 100
    jobs = [{**ONE, "ref": f"j{n}", "depends_on": [f"j{(n + 1) % count}"]} for n in range(count)]
    with pytest.raises(Invalid) as caught:
        submission.read(office, {"jobs": jobs})
    assert caught.value.code == "cycle"
    circle = caught.value.extra["cycle"]
    assert isinstance(circle, list)
    assert set(circle) == {f"j{n}" for n in range(count)}
    assert len(str(caught.value)) < 500
