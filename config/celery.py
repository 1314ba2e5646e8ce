"""The Celery app. `celery -A config worker -Q FE,BE` starts a worker on any host."""

import os

from celery import Celery

# Registers the commands of `celery inspect` and `celery control`, in the sender and in the worker.
from jobs.worker import control as control
from jobs.worker.bootstep import LeaseKeeperStep
from jobs.worker.drain import ConsumerGate

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("dure")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["worker"].add(LeaseKeeperStep)
app.steps["consumer"].add(ConsumerGate)
