"""What `make up` shows of exports: a replay that was made by rule, and one export of it under way."""

import io
from datetime import datetime

from django.contrib.auth.models import User

from exports import lifecycle, replays, sample_replay
from exports.models import ExportJob, Replay
from exports.states import JobType

TITLE = "두레 컵 결승전 (demo)"
SECONDS = 120.0  # long enough to be seen on its way


def fill(owner: User, now: datetime) -> ExportJob:
    """Makes what is missing of it; a second call changes nothing. The export that it shows."""
    replay = Replay.objects.filter(owner=owner, title=TITLE).first()
    if replay is None:
        log = "\n".join(sample_replay.event_log(SECONDS, title=TITLE)).encode()
        replay = replays.keep(owner, io.BytesIO(log), "demo.jsonl", TITLE, now)
    shown = ExportJob.objects.filter(replay=replay, job_type=JobType.MP4).order_by("pk").first()
    return shown or lifecycle.request(replay, JobType.MP4, now)
