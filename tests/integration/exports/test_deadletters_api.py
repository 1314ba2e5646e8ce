"""Dead letters in the REST API: for staff only."""

from typing import Any

import pytest
from django.utils import timezone

from exports.models import DeadLetter, StreamOutbox
from tests.integration import export_tools as tools
from tests.integration.rest_support import client_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folders", "fresh_counts")]


def a_dead_letter(**more: Any) -> DeadLetter:
    plain = {"source_stream": "job.progress", "source_id": "1-0", "fields": {"jobId": "7"}, "reason": "none"}
    return DeadLetter.objects.create(**{**plain, "failed_at": timezone.now(), **more})


def test_dead_letters_are_listed_republished_and_discarded() -> None:
    staff = client_of(tools.user("ops", is_staff=True))
    first, second = a_dead_letter(), a_dead_letter(source_id="2-0")
    cut = a_dead_letter(source_id="3-0", whole=False)
    assert staff.get("/api/deadletters?state=open").json()["totalElements"] == 3
    assert staff.get(f"/api/deadletters/{first.pk}").json()["fields"] == {"jobId": "7"}
    sent = staff.post(f"/api/deadletters/{first.pk}/republish").json()
    assert (sent["state"], sent["handledBy"]) == ("republished", "ops")
    assert StreamOutbox.objects.get().fields == {"jobId": "7"}
    assert staff.post(f"/api/deadletters/{first.pk}/republish").status_code == 409
    assert staff.post(f"/api/deadletters/{second.pk}/discard").json()["state"] == "discarded"
    assert staff.post(f"/api/deadletters/{cut.pk}/republish").json()["code"] == "not_whole"
    assert staff.post("/api/deadletters/99999/discard").status_code == 404
    assert staff.get("/api/deadletters?state=odd").status_code == 400
