"""What a new installation shows: an hour of history, and work that goes on right now."""

from datetime import datetime

from jobs.demo import history, live
from jobs.models import Job, Office


def fill(office: Office, now: datetime) -> None:
    """History once; the rest whenever nothing of it is left to do."""
    if not Job.objects.filter(office=office).exists():
        history.write(office, now)
        live.play_failures(office)
    live.start_release(office)
