"""The Celery app. `celery -A config worker -Q FE,BE` starts a worker on any host."""

import os
from typing import Any

from celery import Celery

# Registers the broker's transport.
from config import broker as broker
from jobs.redis import ANSWER_SECONDS

# Registers the commands of `celery inspect` and `celery control`, in the sender and in the worker.
from jobs.worker import control as control
from jobs.worker.bootstep import DeadProcessStep, LeaseKeeperStep
from jobs.worker.drain import ConsumerGate

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
# Celery would run Django's checks, which load every page of the web process, a quarter of a worker's start,
# and would drop what they say. `manage.py check` and `manage.py doctor` say it.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")


class App(Celery):  # type: ignore[misc]
    def connection_for_write(self, url: str | None = None, **options: Any) -> Any:
        """A connection to publish over. Requests wait for it, and a worker's poll may take longer."""
        brief = {
            "socket_timeout": ANSWER_SECONDS,
            "socket_connect_timeout": ANSWER_SECONDS,
            "max_retries": 0,  # once is long enough
        }
        options["transport_options"] = brief | (options.get("transport_options") or {})
        return super().connection_for_write(url, **options)


app = App("dure")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["worker"].update((LeaseKeeperStep, DeadProcessStep))
app.steps["consumer"].add(ConsumerGate)
