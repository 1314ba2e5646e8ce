"""Exports in the REST API: start, show, list and cancel, by their owner only."""

import pytest
from django.utils import timezone

from exports import lifecycle
from exports.models import StreamOutbox
from exports.states import JobType
from tests.integration import export_tools as tools

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("folders", "fresh_counts")]


@pytest.mark.parametrize(
    ("address", "job_type"), [("mp4", "MP4"), ("thumbnail", "THUMBNAIL"), ("webm", "WEBM"), ("gif", "GIF")]
)
def test_an_export_is_started_and_shown(client, minji, address, job_type) -> None:
    replay = tools.replay_of(minji)
    answer = client.post(f"/api/replays/{replay.pk}/exports/{address}", content_type="application/json")
    assert answer.status_code == 202
    (job_id,) = answer.json().values()
    assert answer.json() == {"jobId": job_id} and isinstance(job_id, int)
    assert answer["Location"].endswith(f"/api/jobs/{job_id}")
    export = client.get(f"/api/jobs/{job_id}").json()
    assert export["createdAt"].endswith("+09:00")
    del export["createdAt"]
    assert export == {
        "jobId": job_id,
        "jobType": job_type,
        "replayId": replay.pk,
        "status": "QUEUED",
        "progress": 0,
        "phase": "",
        "message": "",
        **dict.fromkeys(("etaSeconds", "resultUri", "checksum", "sizeBytes", "errorCode", "errorMessage")),
        **dict.fromkeys(
            ("startedAt", "endedAt", "expiredAt", "resolution", "fps", "fromMs", "toMs", "sound")
        ),
    }
    assert StreamOutbox.objects.get().fields["jobId"] == str(job_id)


def test_the_list_has_pages_and_filters_newest_first(client, minji) -> None:
    replay = tools.replay_of(minji)
    jobs = [
        lifecycle.request(replay, JobType.THUMBNAIL if n % 3 == 0 else JobType.MP4, timezone.now())
        for n in range(7)
    ]
    lifecycle.cancel(jobs[1].pk, timezone.now())
    body = client.get("/api/jobs?page=1&size=3").json()
    assert [item["jobId"] for item in body.pop("content")] == [jobs[n].pk for n in (3, 2, 1)]
    assert body == {"page": 1, "size": 3, "totalElements": 7, "totalPages": 3}
    assert client.get("/api/jobs?jobType=THUMBNAIL").json()["totalElements"] == 3
    assert client.get("/api/jobs?status=CANCELLED&jobType=MP4").json()["content"][0]["jobId"] == jobs[1].pk
    assert client.get("/api/jobs?page=9").json()["content"] == []
    sizes = ("size=0", "size=201", "size=" + "9" * 50)
    for bad in ("status=done", "jobType=AVI", "page=-1", "page=x", "owner=1", *sizes):
        assert client.get(f"/api/jobs?{bad}").status_code == 400, bad


def test_a_cancel_answers_202_once_and_then_409(client, minji) -> None:
    job = tools.export_of(minji)
    answer = client.post(f"/api/jobs/{job.pk}/cancel")
    assert (answer.status_code, answer.json()["status"]) == (202, "CANCELLED")
    again = client.post(f"/api/jobs/{job.pk}/cancel")
    assert (again.status_code, again.json()["code"]) == (409, "ended")
