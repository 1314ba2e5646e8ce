"""Links to Flower, the monitor of Celery.

Each send of a run is a Celery task with an id of its own, which is stored nowhere. But all of them name the
Execution in their arguments, and Flower's list can be searched for that: its address takes the text of the
search box, where `name:` may be followed by another term.
"""

from urllib.parse import quote

from django.conf import settings
from django.contrib.auth.models import User

from jobs.models import Execution


def link_for(user: User, run: Execution) -> str:
    """The messages of one run in Flower; empty unless the user is staff and Flower's address is set."""
    if not user.is_staff or not settings.DURE_FLOWER_URL:
        return ""
    return f"{settings.DURE_FLOWER_URL}/tasks?name={quote(f'{run.task_id} args:{run.id}', safe='')}"
