"""Lists that refresh in place: their rows stay, and newer ones are announced."""

import re

import pytest

from jobs.pages import live_list
from tests.factories import submitted
from tests.integration.pages.clients import at, sign_in, text_of
from tests.integration.pages.schedule_pages import of_alice
from tests.integration.pages.workflow_pages import made
from tests.step_factories import a_queue

pytestmark = pytest.mark.django_db


def a_job(office, name: str) -> None:
    submitted(office, {"ref": name})


def a_batch(office, name: str) -> None:
    submitted(office, {"ref": "a"}, {"ref": "b"}, name=name)


LISTS = {
    "jobs": (lambda office: at(office, "/jobs"), a_job),
    "batches": (lambda office: at(office, "/batches"), a_batch),
    "schedules": (lambda office: "/schedules", lambda office, name: of_alice(name=name)),
    "workflows": (lambda office: "/workflows", lambda office, name: made(office, name=name)),
    "runs": (lambda office: "/runs", a_job),
    "step queues": (lambda office: "/step-queues", lambda office, name: a_queue(name=name, office=office)),
}
WHICH = pytest.mark.parametrize(("address", "create"), LISTS.values(), ids=LISTS)


def live_address(page) -> str:
    match = re.search(r'id="live" hx-get="([^"]*)"', text_of(page))
    assert match is not None
    return match[1].replace("&amp;", "&")


def announced(page) -> str:
    match = re.search(r'id="new-rows"[^>]*>([^<]*)<', text_of(page))
    return match[1] if match else ""


@WHICH
def test_newer_rows_are_announced_and_the_rows_stay(office, alice, address, create):
    create(office, "row-0")
    page = alice.get(address(office))
    live = live_address(page)
    assert "row-0" in text_of(alice.get(live))
    assert announced(page) == announced(alice.get(live)) == ""
    create(office, "row-1")
    create(office, "row-2")
    again = alice.get(live)
    assert "row-0" in text_of(again)
    assert "row-1" not in text_of(again)
    assert announced(again) == "2 new"
    assert announced(sign_in(language="ko").get(live)) == "새 항목 2개"
    assert "row-2" in text_of(alice.get(again.context["list_at"]))


@WHICH
def test_an_empty_list_announces_its_first_row(office, alice, address, create):
    live = live_address(alice.get(address(office)))
    create(office, "row-1")
    assert announced(alice.get(live)) == "1 new"


def test_only_matching_rows_are_announced_and_up_to_a_number(office, alice, monkeypatch):
    monkeypatch.setattr(live_list, "MOST_NEW", 2)
    live = live_address(alice.get(at(office, "/jobs") + "?role=FE"))
    submitted(office, {"ref": "other", "role": "BE"}, *({"ref": f"{n}", "role": "FE"} for n in range(3)))
    again = alice.get(live)
    assert announced(again) == "2+ new"
    assert again.context["list_at"] == at(office, "/jobs") + "?role=FE"


def test_the_forms_of_a_refreshed_row_lead_back_to_the_page(alice):
    of_alice(name="one")
    part = alice.get(live_address(alice.get("/schedules?q=one")))
    assert 'name="back" value="/schedules?q=one"' in text_of(part)


def test_a_newest_row_that_is_none_is_ignored(office, alice):
    a_job(office, "listed")
    for address in (at(office, "/jobs/live"), at(office, "/batches/live"), "/schedules/live"):
        assert alice.get(address + "?newest=%00&after=x").status_code == 200
    assert "listed" in text_of(alice.get(at(office, "/jobs/live?newest=-1")))
