"""The replay and the export that `make up` shows."""

import io
from datetime import datetime

from django.contrib.auth.models import User

from exports import lifecycle, replays, sample_replay
from exports.models import ExportJob, Replay
from exports.states import LIVE, JobType

TITLE = "두레 컵 결승전 (demo)"
SECONDS = 15.0  # long enough to watch its progress, and short beside the start of a system


def fill(owner: User, now: datetime) -> ExportJob:
    """Creates the replay and its export unless they exist; answers the export."""
    replay = Replay.objects.filter(owner=owner, title=TITLE).first()
    if replay is None:
        log = "\n".join(sample_replay.event_log(SECONDS, title=TITLE)).encode()
        replay = replays.store(owner, io.BytesIO(log), "demo.jsonl", TITLE, now)
    export = ExportJob.objects.filter(replay=replay, job_type=JobType.MP4).order_by("pk").first()
    return export or lifecycle.request(replay, JobType.MP4, now)


def remove(owner: User, now: datetime) -> None:
    for export in ExportJob.objects.filter(replay__owner=owner, status__in=LIVE):
        lifecycle.cancel(export.pk, now)
    for replay in Replay.objects.filter(owner=owner):
        replays.delete(replay)
