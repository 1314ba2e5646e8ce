"""URLs of the pages about step queues."""

from django.urls import path

from scheduler.steps.pages import queue_detail, queue_forms, queue_list

app_name = "steps"
QUEUE = "step-queues/<int:queue_id>"

urlpatterns = [
    path("step-queues", queue_list.queues, name="queues"),
    path("step-queues/live", queue_list.queues, {"template": "queue_list_live.html"}, name="queues-live"),
    path("step-queues/new", queue_forms.new_queue, name="new-queue"),
    path(f"{QUEUE}/jobs/new", queue_forms.new_job, name="new-job"),
    path(f"{QUEUE}/copy", queue_forms.copy, name="copy"),
    path(QUEUE, queue_detail.queue, name="queue"),
    path(f"{QUEUE}/live", queue_detail.queue, {"template": "queue_live.html"}, name="queue-live"),
    path(f"{QUEUE}/run", queue_detail.act, {"verb": "run"}, name="run"),
    path(f"{QUEUE}/check", queue_detail.check, name="check"),
    path(f"{QUEUE}/resume", queue_detail.act, {"verb": "resume"}, name="resume"),
    path(f"{QUEUE}/cancel", queue_detail.act, {"verb": "cancel"}, name="cancel"),
    path(f"{QUEUE}/delete", queue_detail.delete, name="delete"),
    path(f"{QUEUE}/jobs/<uuid:job_id>/rerun", queue_detail.rerun, name="rerun"),
]
