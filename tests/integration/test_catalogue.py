"""The catalogue: workers write their Tasks, and every other process reads them there."""

import threading

import pytest
from django.db import connection

from jobs import catalogue
from jobs.catalogue import Registration
from jobs.known_tasks import UnknownTask
from jobs.models import CatalogueEntry, CatalogueOffer
from jobs.worker import registration
from jobs.worker.catalogue import own_rows, row_of, write

SCHEMA = {"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": False}


def rows(task_id="shop.pack", **values):
    values = {"task_id": task_id, "schema": SCHEMA, "role": "FE", **values}
    return [row_of(Registration(catalogue.TASK, task_id, "shop.tasks", values))]


def online(name, roles=("FE",)):
    values = {"roles": list(roles), "slots": 1, "running": 0, "draining": False, "started_at": 0}
    registration.register({"name": name, **values})


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

    def test_the_same_catalogue_changes_nothing(self):
        assert write("a@test", rows()) == 2
        assert write("a@test", rows()) == 0

    def test_a_task_that_a_worker_has_no_longer_stays_known_without_it(self):
        write("a@test", rows())
        write("a@test", rows("shop.send"))
        assert list(CatalogueOffer.objects.values_list("name", flat=True)) == ["shop.send"]
        assert in_force().task_id == "shop.pack"

    def test_the_newest_version_is_in_force_also_when_the_one_before_returns(self):
        write("a@test", rows(max_retries=1))
        write("b@test", rows(max_retries=2))
        assert in_force().max_retries == 2
        write("c@test", rows(max_retries=1))
        assert in_force().max_retries == 1
        assert CatalogueEntry.objects.count() == 2

    def test_a_version_of_an_online_worker_goes_before_a_newer_one_of_a_worker_that_is_gone(self):
        write("a@test", rows(max_retries=1))
        online("a@test")
        write("b@test", rows(max_retries=2))
        online("b@test")
        assert in_force().max_retries == 2
        registration.deregister("b@test")
        assert in_force().max_retries == 1

    def test_a_worker_is_told_when_its_rows_were_deleted(self):
        values = {"name": "a@test", "roles": ["FE"], "slots": 1, "running": 0, "draining": False}
        write("a@test", rows())
        assert registration.register({**values, "started_at": 0}) == 1
        CatalogueOffer.objects.all().delete()
        assert registration.register({**values, "started_at": 0}) == 0

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
    def test_what_is_known_is_read_once_in_a_while(self, django_assert_num_queries):
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


@pytest.mark.django_db(transaction=True)
def test_two_workers_that_start_at_once_write_one_entry_and_an_offer_each():
    barrier = threading.Barrier(4)
    names = [f"{number}@test" for number in range(4)]

    def start(name):
        try:
            barrier.wait(10)
            write(name, [row for n in range(20) for row in rows(f"shop.{n}")])
        finally:
            connection.close()

    threads = [threading.Thread(target=start, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert CatalogueEntry.objects.count() == 20
    assert CatalogueOffer.objects.count() == 80
