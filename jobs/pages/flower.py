"""The address in Flower that shows the messages of one Execution.

Each send of an Execution is a Celery task with an id of its own, which is written down nowhere. But all of
them say in their arguments which Execution they are about, and Flower's list can be searched for that. What
its address takes is put into the search box as it is: `name:` and the value, so the value may go on with
another term.
"""

from urllib.parse import quote

from django.conf import settings
from django.contrib.auth.models import User

from jobs.models import Execution


def link_for(user: User, run: Execution) -> str:
    """Empty for who is no operator of the whole system, and where nobody has said where Flower is."""
    if not user.is_staff or not settings.DURE_FLOWER_URL:
        return ""
    return f"{settings.DURE_FLOWER_URL}/tasks?name={quote(f'{run.task_id} args:{run.id}', safe='')}"
