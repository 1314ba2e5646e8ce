"""Lists of the admin neither count nor sort a large table, and use keyset pagination."""

import json
import re
from typing import Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from exports.models import DeadLetter
from jobs.admin import base, changelist
from jobs.models import Attempt, Batch, Event, Execution, Job, Office
from jobs.sql import call
from jobs.states import JobStatus
from scheduler.clock import database_now
from scheduler.models import Occurrence, StepQueue
from tests.factories import a_start, a_user, an_office, done, submitted
from tests.integration.test_engine_plans import FILL
from tests.schedule_factories import a_schedule

pytestmark = pytest.mark.django_db

OURS = ("jobs", "scheduler", "exports", "admin")
# So many that PostgreSQL uses indexes.
MANY, SOME = 20_000, 300
TABLES = ("job_queue", "job_executions", "job_attempts", "job_events", "job_batches")


def address(model: Any, query: str = "") -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist") + query


def ids(page: Any) -> list[Any]:
    return [row.pk for row in page.context["cl"].result_list]


def big_lists() -> list[Any]:
    return [model for model, site in admin.site._registry.items() if isinstance(site, base.LargeTableAdmin)]


def test_large_tables_have_keyset_lists():
    small = {"Office", "Schedule", "Workflow"}
    unlisted = {"Dependency", "RunLogChunk", "CatalogueEntry", "CatalogueOffer", "AlertsSeen", "TaskStart"}
    unlisted.add("EarlyMessage")
    ours = [model for app in OURS[:3] for model in apps.get_app_config(app).get_models()]
    assert {model.__name__ for model in ours} - {model.__name__ for model in big_lists()} == small | unlisted


# --- what is queries of the database -----------------------------------------------------------------


def filled(count: int) -> Office:
    """An office with ended jobs, and their rows in the other tables."""
    made = an_office(a_user("alice"))
    for statement in FILL:
        call.change(statement, {"office": made.id, "count": count})
    for table in TABLES:
        call.change(f"ANALYZE {table}")
    return made


def every_address(client: Client, model: Any) -> list[str]:
    """The list, its next page, each filter, each way to search, and each link that leads to it."""
    plain = client.get(address(model))
    cl = plain.context["cl"]
    hits = ["", cl.older, "?o=-3.2", "?_facets=True&all="]
    hits += [list(spec.choices(cl))[-1]["query_string"] for spec in cl.filter_specs]
    hits += [f"?q={word}" for word in ("7", "build", "0199f3ab", str(Batch().pk))]
    row = next(iter(cl.result_list), None)
    site: Any = admin.site._registry[model]
    for name in (*site.ids, *site.people):
        value = getattr(row, model._meta.get_field(name).attname) if row is not None else None
        if value is not None:
            hits.append(f"?{name}={value}")
    return [address(model, query) for query in dict.fromkeys(hits) if query is not None]


def is_unbounded_count(sql: str) -> bool:
    return "COUNT(" in sql and not re.search(r"LIMIT \d+\) subquery", sql)


def test_lists_neither_count_a_table_nor_use_offsets(root, monkeypatch):
    filled(SOME)
    # The queries are the same, and most of the time would be spent on rows.
    monkeypatch.setattr(base.LargeTableAdmin, "list_per_page", 5)
    for model in big_lists():
        for path in every_address(root, model):
            with CaptureQueriesContext(connection) as queries:
                assert root.get(path, follow=True).status_code == 200, path
            for query in queries:
                sql = query["sql"]
                assert not is_unbounded_count(sql), (path, sql)
                # The only offset is in the query of ids that finds the newest rows.
                offset = re.search(r"OFFSET (\d+)", sql)
                assert offset is None or int(offset[1]) == changelist.NEWEST - 1, (path, sql)


def costly(plan: dict[str, Any], table: str) -> list[str]:
    """The parts of a plan that read a whole table."""
    hits = [what for child in plan.get("Plans", ()) for what in costly(child, table)]
    if plan["Node Type"] == "Seq Scan" and plan["Relation Name"] == table:
        hits.append("reads all")
    if plan["Node Type"] == "Sort" and plan["Plan Rows"] > MANY // 10:
        hits.append("sorts many")
    return hits


def test_lists_of_large_tables_read_only_a_part(root, monkeypatch):
    """The plan of PostgreSQL."""
    filled(MANY)
    monkeypatch.setattr(changelist, "NEWEST", MANY // 20)
    looked_at = 0
    for model in big_lists():
        table = model._meta.db_table
        # Attempts have no index by their run.
        if table not in TABLES or model in (Attempt, Batch):
            continue
        for path in every_address(root, model):
            with CaptureQueriesContext(connection) as queries:
                root.get(path, follow=True)
            for query in queries:
                sql = query["sql"]
                if not sql.startswith("SELECT") or f'FROM "{table}"' not in sql:
                    continue
                [(plan,)] = call.rows(f"EXPLAIN (FORMAT JSON) {sql.replace('%', '%%')}")
                hits = plan if isinstance(plan, list) else json.loads(plan)
                assert costly(hits[0]["Plan"], table) == [], (path, sql, hits)
                looked_at += 1
    assert looked_at > 50


# --- pages -----------------------------------------------------------------------------------------


def test_pages_lead_forward_and_back_while_rows_are_added(root):
    office = filled(SOME)
    newest = list(Job.objects.order_by("-id").values_list("id", flat=True)[:100])
    first = root.get(address(Job))
    cl = first.context["cl"]
    assert (len(cl.result_list), cl.newer) == (50, "")
    assert cl.is_rough
    assert cl.result_count > SOME / 2
    submitted(office, {})
    second = root.get(address(Job, cl.older))
    assert [*ids(first), *ids(second)] == newest
    assert ids(root.get(address(Job, second.context["cl"].newer))) == ids(first)


def test_the_last_page_has_no_next_page_and_an_invalid_cursor_shows_the_first(root):
    jobs = submitted(an_office(), *[{} for _ in range(51)])
    first = root.get(address(Job))
    second = root.get(address(Job, first.context["cl"].older))
    assert ids(second) == [jobs[0].pk]
    assert second.context["cl"].older == ""
    for nonsense in ("after:", "after:nonsense", "2", "before:", "x:1"):
        assert ids(root.get(address(Job, f"?p={nonsense}"))) == ids(first), nonsense


def test_the_jobs_of_an_office_are_in_the_order_of_their_submission(root):
    office, other = an_office(), an_office(name="other")
    expected = submitted(office, {}, {}, {})
    submitted(other, {})
    page = root.get(address(Job, f"?office={office.pk}"))
    assert ids(page) == [job.pk for job in expected[::-1]]
    assert str(office.pk) in page.content.decode()


def test_the_scheduled_runs_of_a_schedule_are_paged_by_their_time(root):
    schedule = a_schedule(now=database_now())
    call.change(
        "INSERT INTO schedule_occurrences (schedule_id, due_at, outcome, reason, decided_at) "
        "SELECT %s, now() - n * interval '1 minute', 'missed', '', now() FROM generate_series(1, 60) n",
        [schedule.pk],
    )
    first = root.get(address(Occurrence, f"?schedule={schedule.pk}"))
    second = root.get(address(Occurrence, first.context["cl"].older))
    everything = Occurrence.objects.order_by("-due_at").values_list("pk", flat=True)
    assert [*ids(first), *ids(second)] == list(everything)


def test_a_longer_list_needs_no_more_queries(root):
    schedule = a_schedule(now=database_now())
    for model, fill in (
        (Execution, lambda: a_start(trigger="SCHEDULE", source=str(schedule.pk))),
        (Job, lambda: submitted(an_office(), {}, name="x")),
    ):
        counts = []
        for _ in range(2):
            fill()
            fill()
            with CaptureQueriesContext(connection) as queries:
                root.get(address(model))
            counts.append(len(queries))
        assert counts[0] == counts[1], model


# --- filters and searches --------------------------------------------------------------------------


def test_lists_filter_by_state_and_refuse_columns_without_an_index(root):
    office = an_office(max_concurrent_jobs=1)
    jobs = submitted(office, {"ref": "a"}, {"ref": "b"})
    finished = done(jobs[0])
    assert ids(root.get(address(Job, "?state=done"))) == [finished.pk]
    assert ids(root.get(address(Execution, "?status=SUCCESS"))) == [finished.execution_id]
    assert ids(root.get(address(Execution, "?status=RUNNING"))) == []
    for query in ("?ref=a", "?ref__icontains=a", "?office__name=test", "?args__has_key=x"):
        assert root.get(address(Job, query)).status_code == 400, query


def test_a_condition_without_an_index_reads_the_newest_rows_only(root, monkeypatch):
    jobs = submitted(an_office(), *[{"role": "QA", "ref": f"r{n}"} for n in range(5)])
    monkeypatch.setattr(changelist, "NEWEST", 3)
    newest = [job.pk for job in jobs[:1:-1]]
    assert ids(root.get(address(Job, "?role=QA"))) == newest
    assert ids(root.get(address(Job, "?q=r"))) == newest
    # An id is found however old it is.
    assert ids(root.get(address(Job, f"?q={jobs[0].pk}"))) == [jobs[0].pk]


def test_an_id_or_its_beginning_finds_the_row_and_its_relations(root):
    first, second = submitted(an_office(), {"ref": "a"}, {"ref": "b"}, name="release")
    run = first.execution_id
    assert ids(root.get(address(Job, f"?q={first.pk}"))) == [first.pk]
    assert ids(root.get(address(Job, f"?q=%20{first.pk}%20"))) == [first.pk]
    assert set(ids(root.get(address(Job, f"?q={second.batch_id}")))) == {first.pk, second.pk}
    assert set(ids(root.get(address(Job, f"?q={first.office_id}")))) == {first.pk, second.pk}
    assert first.pk in ids(root.get(address(Job, f"?q={str(first.pk)[:18]}")))
    assert ids(root.get(address(Execution, f"?q={first.pk}"))) == [run]
    assert (
        len(ids(root.get(address(Event, f"?q={first.pk}")))) == Event.objects.filter(job_id=first.pk).count()
    )
    assert ids(root.get(address(Batch, "?q=rele"))) == [first.batch_id]
    for nonsense in ("nonsense", "%00", "0" * 40, "00000000-0000"):
        assert ids(root.get(address(Event, f"?q={nonsense}"))) == [] or nonsense == "%00", nonsense


def test_an_owner_is_found_by_name(root):
    alice = a_user("alice")
    queue = StepQueue.objects.create(owner=alice, created_at=timezone.now())
    StepQueue.objects.create(owner=a_user("bob"), created_at=timezone.now())
    assert ids(root.get(address(StepQueue, "?q=alice"))) == [queue.pk]
    assert ids(root.get(address(StepQueue, f"?owner={alice.pk}"))) == [queue.pk]


def test_dead_letters_are_found_by_their_message(root):
    letter = DeadLetter.objects.create(
        source_stream="job.results", source_id="17-0", fields={}, reason="no", failed_at=timezone.now()
    )
    assert ids(root.get(address(DeadLetter, "?q=17-"))) == [letter.pk]
    assert ids(root.get(address(DeadLetter, "?state=open"))) == [letter.pk]
    assert ids(root.get(address(DeadLetter, "?state=discarded"))) == []


def test_live_rows_are_listed_newest_first(root):
    jobs = submitted(an_office(max_concurrent_jobs=1), {}, {}, {})
    hits = root.get(address(Job, f"?state={JobStatus.READY}"))
    assert ids(hits) == [jobs[2].pk, jobs[1].pk]
