"""What a new installation shows: an hour of history, and work that goes on right now."""

from datetime import datetime

from django.contrib.auth.models import User

from jobs.demo import history, live
from jobs.models import Job, Office


def fill(owner: User, office: Office, now: datetime) -> None:
    """History once; the rest whenever nothing of it is left to do."""
    if not Job.objects.filter(office=office).exists():
        history.write(office, now)
        live.play_failures(office)
    live.start_release(owner, office)
