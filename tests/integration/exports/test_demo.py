"""The demo creates one replay and one export, however often it runs."""

import pytest
from django.utils import timezone

from exports import demo
from exports.models import ExportJob, Replay

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folders")]


def test_the_demo_is_filled_once(minji) -> None:
    first, second = demo.fill(minji, timezone.now()), demo.fill(minji, timezone.now())
    assert first == second
    assert (Replay.objects.count(), ExportJob.objects.count()) == (1, 1)
    assert Replay.objects.get().duration_ms == 14_966
