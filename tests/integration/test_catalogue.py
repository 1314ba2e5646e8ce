"""The catalogue: workers write their Tasks, and every other process reads them there."""

import time
from datetime import timedelta

import pytest
from django.core.checks import INFO
from django.utils import timezone

from jobs import catalogue, lifecycle, retention, submission
from jobs.catalogue import Registration
from jobs.insight.explain import explain
from jobs.insight.offers import service_of
from jobs.insight.reasons import Code
from jobs.known_tasks import UnknownTask
from jobs.models import CatalogueEntry, CatalogueOffer, Job
from jobs.pages.reason_texts import sentence
from jobs.sql import call
from jobs.sql import catalogue as statements
from jobs.worker import registration
from jobs.worker.catalogue import own_rows, row_of, write
from scheduler.diagnostics.workers import check_tasks
from tests.concurrency.threads import all_at_once
from tests.factories import an_office, heartbeat
from tests.integration.rest_support import client_of, make_user

LATER = "2030-01-01T00:00:00+09:00"
SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": False}


def rows(task_id="shop.pack", **values):
    values = {"task_id": task_id, "schema": SCHEMA, "role": "FE", **values}
    return [row_of(Registration(catalogue.TASK, task_id, "shop.tasks", values))]


def in_force(task_id="shop.pack"):
    catalogue.forget()
    return catalogue.find(task_id)


@pytest.mark.django_db
class TestWriting:
    def test_a_task_is_known_as_soon_as_a_worker_has_written_it(self):
        with pytest.raises(UnknownTask):
            catalogue.find("shop.pack")
        write("a@test", rows(description="Packs."))
        assert catalogue.find("shop.pack").description == "Packs."
        assert catalogue.find("shop.pack") in catalogue.all_tasks()

    def test_before_that_a_process_finds_it_in_the_modules_that_it_shares_with_workers(self, settings):
        settings.DURE_WORKER_MODULES = ["tests.no_such"]
        with pytest.raises(UnknownTask):
            catalogue.find("test.echo_of_a_module")
        settings.DURE_WORKER_MODULES = ["tests.module_of_tasks"]
        assert catalogue.find("test.echo_of_a_module").role == "QA"
        write("a@test", rows("test.echo_of_a_module", role="BE"))
        assert in_force("test.echo_of_a_module").role == "BE"

    def test_the_same_catalogue_changes_nothing(self):
        assert write("a@test", rows()) == 2
        assert write("a@test", rows()) == 0

    def test_a_task_that_a_worker_has_no_longer_stays_known_without_it(self):
        write("a@test", rows())
        write("a@test", rows("shop.send"))
        assert list(CatalogueOffer.objects.filter(worker="a@test").values_list("name", flat=True)) == [
            "shop.send"
        ]
        assert in_force().task_id == "shop.pack"

    def test_the_newest_version_is_in_force_also_when_the_one_before_returns(self):
        write("a@test", rows(max_retries=1))
        write("b@test", rows(max_retries=2))
        assert in_force().max_retries == 2
        write("c@test", rows(max_retries=1))
        assert in_force().max_retries == 1
        assert CatalogueEntry.objects.filter(name="shop.pack").count() == 2

    def test_a_version_of_an_online_worker_goes_before_a_newer_one_of_a_worker_that_is_gone(self):
        write("a@test", rows(max_retries=1))
        heartbeat("a@test", "FE")
        write("b@test", rows(max_retries=2))
        heartbeat("b@test", "FE")
        assert in_force().max_retries == 2
        registration.deregister("b@test")
        assert in_force().max_retries == 1

    def test_a_worker_is_told_when_its_rows_were_deleted(self):
        write("a@test", rows())
        assert heartbeat("a@test", "FE") == 1
        CatalogueOffer.objects.all().delete()
        assert heartbeat("a@test", "FE") == 0

    def test_a_worker_of_the_engines_queues_alone_offers_nothing(self):
        assert own_rows(["control", "notices"]) == []
        assert "demo.sum" in {row["name"] for row in own_rows(["default", "control"])}

    def test_the_order_of_the_arguments_is_kept(self):
        properties = {name: {"type": "string"} for name in ("zone", "a", "name")}
        write("a@test", rows(schema={"type": "object", "properties": properties}))
        assert list(in_force().schema["properties"]) == ["zone", "a", "name"]

    def test_options_of_a_newer_release_are_left_out(self):
        write("a@test", rows(an_option_of_tomorrow=True))
        assert in_force().role == "FE"


@pytest.mark.django_db
class TestReading:
    def test_a_process_reads_the_catalogue_once_in_a_while(self, django_assert_num_queries, monkeypatch):
        monkeypatch.setattr(catalogue, "FRESH_SECONDS", 60)
        write("a@test", rows())
        catalogue.find("shop.pack")
        with django_assert_num_queries(0):
            for _ in range(100):
                catalogue.find("shop.pack")
                catalogue.find("demo.sum")

    def test_a_changed_version_is_seen_after_a_moment(self, monkeypatch):
        write("a@test", rows(max_retries=1))
        assert catalogue.find("shop.pack").max_retries == 1
        write("a@test", rows(max_retries=2))
        monkeypatch.setattr(catalogue, "FRESH_SECONDS", 0)
        assert catalogue.find("shop.pack").max_retries == 2

    def test_dures_own_tasks_are_known_without_a_worker(self):
        assert not CatalogueEntry.objects.exists()
        assert catalogue.find("demo.sum").role == "default"


@pytest.mark.django_db
class TestOffers:
    def test_a_task_says_which_workers_offer_it_and_since_when_none_does(self):
        write("a@test", rows())
        heartbeat("a@test", "FE")
        assert service_of("shop.pack", "FE").is_available
        # It is online, and does not serve this role, which another worker does.
        heartbeat("b@test", "BE")
        assert not service_of("shop.pack", "BE").is_available
        registration.deregister("a@test")
        service = service_of("shop.pack", "FE")
        assert not service.is_available
        assert [offer.worker for offer in service.offers] == ["a@test"]
        assert service.seen_at == CatalogueOffer.objects.get().seen_at

    def test_a_worker_of_the_role_without_the_task_does_not_make_it_available(self):
        write("a@test", rows())
        heartbeat("b@test", "FE")
        service = service_of("shop.pack", "FE")
        assert service.role_is_served
        assert not service.is_available

    def test_dures_own_task_without_an_offer_needs_a_worker_of_its_role(self):
        assert not service_of("demo.sum", "default").is_available
        heartbeat("b@test", "default")
        assert service_of("demo.sum", "default").is_available

    def test_online_workers_with_different_schemas_are_told_from_those_with_other_code(self):
        for name, options in (("a@test", {}), ("b@test", {"max_retries": 3})):
            write(name, rows(**options))
            heartbeat(name, "FE")
        assert not service_of("shop.pack", "FE").schemas_differ
        write("c@test", rows(schema={**SCHEMA, "required": ["name"]}))
        heartbeat("c@test", "FE")
        assert service_of("shop.pack", "FE").schemas_differ
        registration.deregister("c@test")
        assert not service_of("shop.pack", "FE").schemas_differ

    def test_the_doctor_warns_of_different_schemas_and_of_a_worker_that_lacks_a_task(self):
        write("a@test", rows())
        heartbeat("a@test", "FE")
        assert [message.level for message in tasks_according_to_doctor()] == [INFO]
        write("b@test", rows(schema={**SCHEMA, "required": ["name"]}))
        heartbeat("b@test", "FE")
        heartbeat("c@test", "FE")
        schemas, lacking = tasks_according_to_doctor()
        assert "different schemas of shop.pack" in schemas.msg
        assert "shop.pack on c@test" in lacking.msg


def tasks_according_to_doctor():
    values = {"kind": catalogue.TASK, "lease": 30}
    different = [name for (name,) in call.rows(statements.DIFFERENT_SCHEMAS, values)]
    return list(check_tasks(different, call.rows(statements.LACKING_WORKERS, values)))


@pytest.mark.django_db
class TestSurfaces:
    def test_the_api_says_when_the_last_worker_of_a_task_was_heard_of(self, client):
        write("a@test", rows())
        heartbeat("a@test", "FE")
        api = client_of(make_user())
        task = api.get("/api/tasks/shop.pack").json()
        assert (task["available"], task["schemas_differ"], task["package"]) == (True, False, "")
        registration.deregister("a@test")
        gone = api.get("/api/tasks/shop.pack").json()
        assert not gone["available"]
        assert gone["seen_at"] > task["seen_at"]
        assert gone in api.get("/api/tasks?page_size=200").json()["results"]

    def test_explain_says_that_no_worker_of_the_role_has_the_task(self):
        write("a@test", rows())
        heartbeat("b@test", "FE")
        office = an_office()
        (job,) = lifecycle.submit(submission.read(office, {"task_id": "shop.pack", "run_at": LATER}))
        reasons = explain(office, Job.objects.get(id=job), timezone.now()).reasons
        (reason,) = [reason for reason in reasons if reason.code == Code.NO_WORKER_FOR_TASK]
        assert "shop.pack" in reason.message
        assert "shop.pack" in str(sentence(reason))

    def test_the_pages_show_the_gone_worker_and_different_schemas(self, client):
        user = make_user("staff", is_staff=True)
        client.force_login(user)
        client.defaults["HTTP_ACCEPT_LANGUAGE"] = "en"
        write("a@test", rows(description="Packs\nthings.\n\nMore."))
        heartbeat("a@test", "FE")
        assert "Packs things.<" in client.get("/tasks").content.decode()
        registration.deregister("a@test")
        heartbeat("b@test", "FE")
        page = client.get("/tasks/shop.pack").content.decode()
        assert "No online worker of the role FE has this Task now" in page
        assert "a@test" in page
        write("a@test", rows(schema={**SCHEMA, "required": ["name"]}))
        write("b@test", rows())
        heartbeat("a@test", "FE")
        assert "different arguments" in client.get("/tasks/shop.pack").content.decode()
        assert "different schemas" in client.get("/tasks").content.decode()


@pytest.mark.django_db
def test_retention_keeps_what_is_in_force_and_who_offered_it_last():
    write("a@test", rows(max_retries=1))
    write("b@test", rows(max_retries=2))
    write("c@test", rows("shop.send"))
    long_ago = timezone.now() - timedelta(days=90)
    for days, name in enumerate(("a@test", "b@test", "c@test")):
        CatalogueOffer.objects.filter(worker=name).update(seen_at=long_ago + timedelta(days=days))
    for days, entry in enumerate(CatalogueEntry.objects.order_by("registered_at")):
        entry.registered_at = long_ago + timedelta(days=days)
        entry.save()
    now = timezone.now()
    steps = retention.steps(now - timedelta(days=30), now, 1)
    deleted = retention.delete_in_turn(steps, 1, time.monotonic() + 60).deleted
    assert (deleted["offers"], deleted["entries"]) == (1, 1)
    assert set(CatalogueOffer.objects.values_list("worker", flat=True)) == {"b@test", "c@test"}
    assert in_force().max_retries == 2
    assert in_force("shop.send").task_id == "shop.send"


@pytest.mark.django_db(transaction=True)
def test_workers_that_start_at_once_write_one_entry_and_an_offer_each():
    entries = [row for n in range(20) for row in rows(f"shop.{n}")]
    all_at_once(lambda number: write(f"{number}@test", entries), 4)
    # Workers of other tests may write theirs meanwhile.
    tasks = [f"shop.{n}" for n in range(20)]
    assert CatalogueEntry.objects.filter(name__in=tasks).count() == 20
    assert CatalogueOffer.objects.filter(name__in=tasks).count() == 80
