"""The constraints and triggers of exports."""

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from exports.models import ExportJob
from exports.states import TERMINAL
from tests.integration import export_tools as tools

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folders")]
SUM = "ab" * 32


@pytest.mark.parametrize("status", sorted(TERMINAL))
def test_the_database_refuses_to_leave_a_terminal_status(minji, status) -> None:
    job = tools.export_of(minji)
    extra = {"result_uri": "a", "result_checksum": SUM, "result_size": 1} if status == "SUCCEEDED" else {}
    ExportJob.objects.filter(pk=job.pk).update(status=status, ended_at=timezone.now(), **extra)
    with pytest.raises(IntegrityError, match="cannot become"), transaction.atomic():
        ExportJob.objects.filter(pk=job.pk).update(status="RUNNING", ended_at=None)


@pytest.mark.parametrize(
    ("changed", "constraint"),
    [
        ({"status": "DONE"}, "export_(status_known|ended_iff_ended_at)"),
        ({"job_type": "AVI"}, "export_type_known"),
        ({"progress": 101}, "export_progress_is_a_percentage"),
        ({"status": "FAILED"}, "export_ended_iff_ended_at"),
        ({"expired_at": "2026-01-01T00:00:00Z"}, "export_expired_only_if_succeeded"),
        ({"result_uri": "a/b.mp4"}, "export_result_iff_succeeded"),
        ({"status": "SUCCEEDED", "ended_at": "2026-01-01T00:00:00Z"}, "export_result_iff_succeeded"),
    ],
)
def test_each_invariant_of_an_export_is_a_constraint(minji, changed, constraint) -> None:
    job = tools.export_of(minji)
    with pytest.raises(IntegrityError, match=constraint), transaction.atomic():
        ExportJob.objects.filter(pk=job.pk).update(**changed)


def test_the_database_refuses_progress_that_goes_back(minji) -> None:
    job = tools.export_of(minji)
    ExportJob.objects.filter(pk=job.pk).update(progress=50)
    with pytest.raises(IntegrityError), transaction.atomic():
        ExportJob.objects.filter(pk=job.pk).update(progress=49)
