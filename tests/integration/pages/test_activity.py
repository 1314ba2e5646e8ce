"""The log of what people did to an office, whichever surface they used."""

import pytest

from jobs import activity, office_config, offices, retention
from jobs.actors import Actor, act_as
from jobs.errors import Conflict, Invalid
from jobs.models import Activity
from jobs.notifications import webhooks
from jobs.states import Act, MemberRole, Surface
from tests.factories import a_member, a_user
from tests.integration.pages.clients import at, sign_in, text_of
from tests.integration.rest_support import client_of

pytestmark = pytest.mark.django_db


def acts(office) -> list[tuple[str, str, dict[str, object]]]:
    return list(office.activity.order_by("id").values_list("actor", "act", "details"))


def test_acts_of_the_pages_and_of_the_api_are_recorded_with_who_did_them(office, alice):
    a_user("bob")
    api = client_of(a_user("alice"))
    alice.post(at(office, "/pause"))
    api.patch(
        f"/api/offices/{office.id}/scheduler/config",
        {"maxConcurrentJobs": 8, "paused": False},
        content_type="application/json",
    )
    alice.post(at(office, "/members"), {"username": "bob", "role": "viewer"})
    api.post(
        f"/api/offices/{office.id}/members",
        {"username": "bob", "role": "operator"},
        content_type="application/json",
    )
    alice.post(at(office, "/members/remove"), {"username": "bob"})
    assert acts(office) == [
        ("alice", Act.OFFICE_PAUSED, {}),
        ("alice", Act.OFFICE_RESUMED, {}),
        ("alice", Act.LIMITS_CHANGED, {"maxConcurrentJobs": 8}),
        ("alice", Act.MEMBER_ADDED, {"username": "bob", "role": "viewer"}),
        ("alice", Act.MEMBER_CHANGED, {"username": "bob", "role": "operator"}),
        ("alice", Act.MEMBER_REMOVED, {"username": "bob"}),
    ]
    page = text_of(alice.get(at(office, "/activity")))
    assert "Limits changed" in page
    assert "maxConcurrentJobs: 8" in page
    assert "한도 변경" in text_of(sign_in(language="ko").get(at(office, "/activity")))


def test_no_secret_and_no_url_of_a_webhook_is_recorded(office, alice):
    alice.post(at(office, "/webhooks"), {"url": "https://x.example/T0K3N", "event_types": ["job_failed"]})
    webhook = office.webhooks.get()
    path = at(office, f"/webhooks/{webhook.pk}")
    alice.post(path, {"url": "https://x.example/T0K3N2", "event_types": ["job_failed"]})
    for act in ("rotate", "disable", "delete"):
        alice.post(f"{path}/{act}")
    kinds = [act for _, act, _ in acts(office)]
    assert kinds == [
        *(Act.WEBHOOK_CREATED, Act.WEBHOOK_CHANGED, Act.WEBHOOK_ROTATED),
        *(Act.WEBHOOK_CHANGED, Act.WEBHOOK_DELETED),
    ]
    recorded = str(acts(office)) + text_of(alice.get(at(office, "/activity")))
    assert "T0K3N" not in recorded
    assert "whsec_" not in recorded


def test_a_refused_act_and_one_that_changes_nothing_are_not_recorded(office, alice):
    alice.post(at(office, "/members/remove"), {"username": "alice"})
    with act_as(Actor(Surface.PAGE, "alice")):
        with pytest.raises(Invalid):
            office_config.change(office.id, {"maxConcurrentJobs": 0})
        office_config.change(office.id, {"maxConcurrentJobs": office.max_concurrent_jobs})
        webhook = webhooks.add(office, "https://x.example/", enabled=False)
        with pytest.raises(Conflict):
            webhooks.send_test(webhook)
    assert [act for _, act, _ in acts(office)] == [Act.WEBHOOK_CREATED]


def test_the_page_is_for_owners_and_shows_older_acts_on_further_pages(alice):
    office = offices.create(a_user("alice"), "Studio")
    for number in range(60):
        activity.record(Act.OFFICE_CHANGED, office=office.id, actor="alice", name=f"number-{number}-")
    a_member(office, "olga", MemberRole.OPERATOR)
    first = alice.get(at(office, "/activity"))
    assert "number-59-" in text_of(first)
    assert "number-9-" not in text_of(first)
    older = text_of(alice.get(at(office, "/activity"), {"before": first.context["older"]}))
    assert "number-9-" in older
    assert "Office created" in older
    assert sign_in("olga").get(at(office, "/activity")).status_code == 403


def test_old_acts_are_deleted_in_batches(office):
    def delete_acts(before, batch):
        return dict(retention.steps(before, before, batch))["activity"]()

    for _ in range(3):
        activity.record(Act.OFFICE_CHANGED, office=office.id, actor="alice")
    newest = Activity.objects.latest("id")
    assert delete_acts(newest.at, 1) == 1
    assert delete_acts(newest.at, 10) == 1
    assert list(Activity.objects.all()) == [newest]
