"""The Celery app. `celery -A config worker -Q FE,BE` is all it takes to add a worker anywhere."""

import os

from celery import Celery

from jobs.supervise.step import Supervisor

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("dure")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
app.steps["worker"].add(Supervisor)
