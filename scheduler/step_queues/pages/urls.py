"""Addresses of the pages about step queues."""

from django.urls import path

from scheduler.step_queues.pages import lists, one

app_name = "steps"
QUEUE = "step-queues/<int:queue_id>"

urlpatterns = [
    path("step-queues", lists.queues, name="queues"),
    path(QUEUE, one.queue, name="queue"),
    path(f"{QUEUE}/live", one.queue_live, name="queue-live"),
    path(f"{QUEUE}/run", one.run, name="run"),
    path(f"{QUEUE}/cancel", one.cancel, name="cancel"),
    path(f"{QUEUE}/delete", one.delete, name="delete"),
    path(f"{QUEUE}/jobs/<uuid:job_id>/rerun", one.rerun, name="rerun"),
]
