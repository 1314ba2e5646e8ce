"""The list of runs: what it contains, in which order, and how much a search reads."""

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from jobs import lifecycle
from jobs.models import Job
from jobs.sql import call
from jobs.states import Trigger
from scheduler.manual_runs import run_schedule
from scheduler.runs import search
from scheduler.runs.filters import RunFilter, RunState, Sort
from tests.factories import a_run_by_hand, a_user, an_office, done, fresh, running, submitted
from tests.schedule_factories import a_schedule, end, executions, fire
from tests.workers import eventually

pytestmark = pytest.mark.django_db


def names(user: str = "alice", **values) -> list[str]:
    return [run.name or run.task_id for run in search.search(a_user(user), RunFilter(**values)).rows]


@pytest.fixture
def office():
    return an_office(a_user("alice"), name="Alpha workshop", max_concurrent_jobs=2)


def test_jobs_and_runs_without_a_job_are_one_list_newest_first(office):
    submitted(office, {"ref": "first"}, {"ref": "second"}, {"ref": "third"}, name="x")
    a_run_by_hand(task_id="demo.flaky", args={"failures": 1})
    schedule = a_schedule(owner=a_user("alice"), now=timezone.now())
    fire(schedule)
    newest = executions(schedule)[0].task_id
    assert names() == [newest, "demo.flaky", "third", "second", "first"]
    assert names(sort=Sort.OLDEST) == ["first", "second", "third", "demo.flaky", newest]
    assert names("mallory") == []
    assert len(search.search(a_user("steve", is_staff=True), RunFilter()).rows) == 5


def test_a_state_is_the_same_word_for_jobs_and_for_other_runs(office):
    busy, *_ = submitted(office, {"ref": "busy"}, {"ref": "sent"}, {"ref": "ready"}, name="x")
    running(busy)
    a_run_by_hand(task_id="demo.flaky", args={"failures": 1})
    result = search.search(a_user("alice"), RunFilter())
    states = {run.name or run.task_id: run.state for run in result.rows}
    assert states == {
        "busy": RunState.RUNNING,
        "sent": RunState.QUEUED,
        "ready": RunState.QUEUED,
        "demo.flaky": RunState.QUEUED,
    }
    for state in RunState:
        expected = [name for name, value in states.items() if value == state]
        assert sorted(names(states=[state])) == sorted(expected), state


@pytest.fixture
def short_searches(monkeypatch):
    monkeypatch.setattr(search, "SEARCHED_FIRST", 5)
    monkeypatch.setattr(search, "SEARCHED", 10)
    # However busy the machine is.
    monkeypatch.setattr(search, "TIMEOUT_MS", 30_000)


@pytest.fixture
def mixed(office) -> dict[str, Job]:
    good, bad = submitted(
        office,
        {"ref": "nightly backup", "args": {"numbers": [4711]}},
        {"ref": "load", "max_retries": 0},
        name="Quarter closing",
    )
    done(good)
    running(bad, worker="w9@far").fail(failure_type="permission_error", error="The disk 100% refuses.")
    return {"good": fresh(good), "bad": fresh(bad)}


def test_a_text_is_found_in_name_task_error_arguments_office_and_batch(mixed):
    bad = mixed["bad"]
    for text, expected in {
        "NIGHTLY": ["nightly backup"],
        "demo.sum": ["load", "nightly backup"],
        "refuses": ["load"],
        "100% ref": ["load"],
        "_": [],
        "4711": ["nightly backup"],
        "quarter": ["load", "nightly backup"],
        "alpha work": ["load", "nightly backup"],
        str(bad.id): ["load"],
        str(bad.id)[-8:]: ["load"],
        str(bad.execution_id): ["load"],
        str(bad.batch_id): ["load", "nightly backup"],
        str(uuid.uuid4()): [],
        "' OR 1=1 --": [],
    }.items():
        assert names(q=text) == expected, text
    assert names("mallory", q="nightly") == []


def test_every_filter_narrows_the_list(mixed):
    office, bad = mixed["bad"].office_id, mixed["bad"]
    a_run_by_hand(task_id="demo.flaky", args={"failures": 1})
    now = timezone.now()
    for values, expected in (
        ({"failure_types": ["permission_error"]}, ["load"]),
        ({"trigger": Trigger.MANUAL}, ["demo.flaky"]),
        ({"trigger": Trigger.JOB}, ["load", "nightly backup"]),
        ({"worker": "w9@far"}, ["load"]),
        ({"office": office}, ["load", "nightly backup"]),
        ({"batch": bad.batch_id, "states": [RunState.FAILED]}, ["load"]),
        ({"task_id": "demo.flaky"}, ["demo.flaky"]),
        ({"since": now + timedelta(minutes=1)}, []),
        ({"since": now - timedelta(hours=1), "until": now + timedelta(hours=1), "q": "load"}, ["load"]),
        ({"until": now - timedelta(hours=1)}, []),
        ({"schedule": uuid.uuid4()}, []),
    ):
        assert names(**values) == expected, values
    assert names("bob", office=office) == []


def test_the_longest_run_comes_first(office):
    short, long = submitted(office, {"ref": "short"}, {"ref": "long"}, name="x")
    done(short)
    done(long)
    call.change("UPDATE job_queue SET started_at = completed_at - interval '1 hour' WHERE id = %s", [long.id])
    assert names(sort=Sort.LONGEST) == ["long", "short"]


def test_pages_follow_each_other_without_gap_or_overlap_while_others_start(office):
    submitted(office, *({"ref": f"j{number}"} for number in range(9)), name="x")
    a_run_by_hand()
    user, seen, after = a_user("alice"), [], None
    while True:
        result = search.search(user, RunFilter(), after=after, size=4)
        seen += [run.id for run in result.rows]
        a_run_by_hand()
        if result.older is None:
            break
        after = result.older
    assert len(seen) == 10
    assert seen == sorted(seen, reverse=True)
    back = search.search(user, RunFilter(), before=result.newer, size=4)
    assert [run.id for run in back.rows] == seen[4:8]
    upward = search.search(user, RunFilter(sort=Sort.OLDEST), size=4)
    following = search.search(user, RunFilter(sort=Sort.OLDEST), after=upward.older, size=4)
    assert [run.id for run in (*upward.rows, *following.rows)] == seen[::-1][:8]


@pytest.mark.usefixtures("short_searches")
def test_a_search_reads_a_bounded_number_of_rows_and_says_how_far_it_went(office):
    old, *_ = submitted(office, {"ref": "needle"}, *({} for _ in range(20)), name="x")
    user = a_user("alice")
    result = search.search(user, RunFilter(q="needle"))
    assert result.rows == []
    assert result.searched_to is not None
    assert search.count(user, RunFilter(q="needle")) == search.Count(0, True)
    while not result.rows and result.bound is not None:
        result = search.search(user, RunFilter(q="needle"), after=result.bound)
    assert [run.id for run in result.rows] == [old.id]


def test_a_search_that_takes_too_long_keeps_to_the_rows_it_read_first(office, monkeypatch):
    submitted(office, *({"ref": f"j{number}"} for number in range(5)), name="x")
    monkeypatch.setattr(search, "SEARCHED_FIRST", 2)
    read, calls = search._next_ids, []

    def slow_at_the_second_call(*args):
        calls.append(args)
        if len(calls) == 2:
            call.rows("SELECT pg_sleep(10)")
        return read(*args)

    monkeypatch.setattr(search, "_next_ids", slow_at_the_second_call)
    result = search.search(a_user("alice"), RunFilter())
    assert [run.name for run in result.rows] == ["j4", "j3"]
    assert result.bound is not None
    call.rows("SELECT pg_sleep(0.3)")  # the limit ended with the search


@pytest.mark.usefixtures("short_searches")
def test_failures_are_found_behind_very_many_successes(office):
    (bad,) = submitted(office, {"ref": "bad", "max_retries": 0}, name="x")
    running(bad).fail()
    submitted(office, *({} for _ in range(30)), name="x")
    assert names(states=[RunState.FAILED]) == ["bad"]


@pytest.mark.usefixtures("short_searches")
@pytest.mark.parametrize("staff", [False, True])
def test_runs_that_an_index_finds_are_found_behind_very_many_newer_ones(office, staff):
    user = a_user("steve", is_staff=True) if staff else a_user("alice")
    tomorrow = (timezone.now() + timedelta(days=1)).isoformat()
    waiting, _ = submitted(office, {"ref": "old", "run_at": tomorrow}, {"ref": "twin"}, name="x")
    schedule = a_schedule(owner=a_user("alice"), now=timezone.now())
    fire(schedule)
    (fired,) = executions(schedule)
    middle = timezone.now()
    # The ids of what follows are of a later millisecond.
    eventually(lambda: timezone.now() > middle + timedelta(milliseconds=2))
    submitted(office, *({"ref": f"j{number}"} for number in range(30)), name="y")
    for _ in range(15):
        a_run_by_hand()
    for values, expected in (
        ({"q": str(waiting.id)}, {waiting.id}),
        ({"q": str(fired.id)}, {fired.id}),
        ({"batch": waiting.batch_id, "task_id": waiting.task_id, "q": "old"}, {waiting.id}),
        ({"schedule": schedule.id}, {fired.id}),
        ({"states": [RunState.PENDING]}, {waiting.id}),
        ({"until": middle, "q": "old"}, {waiting.id}),
        ({"since": middle - timedelta(hours=1), "until": middle, "trigger": Trigger.SCHEDULE}, {fired.id}),
        ({"newest": fired.id, "trigger": Trigger.SCHEDULE}, {fired.id}),
    ):
        result = search.search(user, RunFilter(**values))
        assert {run.id for run in result.rows} == expected, values
        assert result.searched_to is None, values


@pytest.mark.usefixtures("short_searches")
def test_the_run_of_a_retried_job_leads_to_the_job(office):
    (job,) = submitted(office, {"max_retries": 0}, name="x")
    running(job).fail()
    before = fresh(job).execution_id
    lifecycle.retry(office.id, [job.id], actor="alice")
    assert fresh(job).execution_id != before
    assert [run.id for run in search.search(a_user("alice"), RunFilter(q=str(before))).rows] == [job.id]


def test_a_run_that_plain_sql_inserted_is_in_its_time():
    (row,) = call.rows(
        "INSERT INTO job_executions (task_id, source) VALUES ('demo.sum', %s) RETURNING id",
        [str(a_user("alice").pk)],
    )
    now = timezone.now()
    for user in (a_user("alice"), a_user("steve", is_staff=True)):
        for expected, until in ([row[0]], now + timedelta(hours=1)), ([], now - timedelta(hours=1)):
            result = search.search(user, RunFilter(until=until))
            assert [run.id for run in result.rows] == expected


@pytest.mark.usefixtures("short_searches")
def test_searches_after_each_other_miss_no_run_and_repeat_none(office):
    jobs = submitted(office, *({"ref": f"j{number}"} for number in range(23)), name="x")
    numbers = [str(a_run_by_hand().id) for _ in range(4)]
    expected = [*(str(job.id) for job in jobs), *numbers]
    user = a_user("alice")
    for sort, ordered in (Sort.NEWEST, expected[::-1]), (Sort.OLDEST, expected):
        matches = search.every(user, RunFilter(q="demo", sort=sort), 100)
        assert [str(run.id) for run in matches] == ordered
        # Nothing matches, so that each search ends at its bound.
        after, searches = None, 0
        while (result := search.search(user, RunFilter(q="no such", sort=sort), after=after)).bound:
            after, searches = result.bound, searches + 1
        assert searches == 2


@pytest.mark.usefixtures("short_searches")
def test_the_oldest_runs_come_first_however_many_there_are(office):
    submitted(office, *({"ref": f"j{number}"} for number in range(30)), name="x")
    oldest = search.search(a_user("alice"), RunFilter(sort=Sort.OLDEST), size=3)
    assert [run.name for run in oldest.rows] == ["j0", "j1", "j2"]
    assert oldest.searched_to is None
    late = search.search(a_user("alice"), RunFilter(sort=Sort.OLDEST, q="j29"))
    assert late.rows == []
    assert late.searched_to is not None


@pytest.mark.usefixtures("short_searches")
def test_the_page_before_one_deep_in_the_list_is_next_to_it(office):
    jobs = submitted(office, *({"ref": f"j{number}"} for number in range(30)), name="x")
    back = search.search(a_user("alice"), RunFilter(), before=jobs[2].id, size=3)
    assert [run.name for run in back.rows] == ["j5", "j4", "j3"]
    assert back.newer == jobs[5].id
    # The search for a text reads no further than its bound, where the next one begins.
    back = search.search(a_user("alice"), RunFilter(q="j29"), before=jobs[2].id, size=3)
    assert back.rows == []
    assert back.newer == jobs[12].id


def test_a_count_stops_at_its_limit(office, monkeypatch):
    submitted(office, *({} for _ in range(7)), name="x")
    user = a_user("alice")
    assert search.count(user, RunFilter()) == search.Count(7, False)
    newest = search.search(user, RunFilter(), size=3).rows[-1].id
    assert search.count(user, RunFilter(), since=newest) == search.Count(2, False)
    monkeypatch.setattr(search, "COUNTED", 5)
    assert search.count(user, RunFilter()) == search.Count(5, True)


def test_all_matching_runs_are_read_up_to_a_number(office):
    submitted(office, *({"ref": f"j{number}"} for number in range(7)), name="x")
    assert [run.name for run in search.every(a_user("alice"), RunFilter(), 5)] == [
        "j6",
        "j5",
        "j4",
        "j3",
        "j2",
    ]


def test_a_schedule_selects_its_runs_by_rule_and_by_hand():
    alice = a_user("alice")
    schedule = a_schedule(owner=alice, now=timezone.now())
    fire(schedule)
    end(executions(schedule)[0])
    by_rule, manual = str(executions(schedule)[0].id), str(run_schedule(schedule))
    a_schedule(owner=alice, now=timezone.now())
    page = search.search(alice, RunFilter(schedule=schedule.id))
    assert {str(run.id) for run in page.rows} == {by_rule, manual}
