"""The demonstration data of a new installation: an hour of history, and live work."""

from datetime import datetime

from jobs.demo import history, live
from jobs.models import Job, Office


def fill(office: Office, now: datetime) -> None:
    """Create the history and the live release, once."""
    if not Job.objects.filter(office=office).exists():
        history.write(office, now)
        live.create_failures(office)
        live.start_release(office)
