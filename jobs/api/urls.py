"""Every address of offices, jobs and Tasks, below /api/."""

from django.urls import path

from jobs.api import (
    batches,
    control,
    events,
    explain,
    jobs,
    members,
    office,
    office_scheduler,
    queues,
    run_logs,
    tasks,
    webhooks,
)

OFFICE = "offices/<uuid:office_id>"
JOB = f"{OFFICE}/jobs/<uuid:job_id>"
WEBHOOK = f"{OFFICE}/webhooks/<int:webhook_id>"

urlpatterns = [
    path("offices", office.OfficeListView.as_view(), name="offices"),
    path(OFFICE, office.OfficeDetailView.as_view(), name="office"),
    path(f"{OFFICE}/members", members.MemberListView.as_view(), name="members"),
    path(f"{OFFICE}/members/<str:username>", members.MemberDetailView.as_view(), name="member"),
    path(f"{OFFICE}/scheduler/stats", office_scheduler.StatsView.as_view(), name="scheduler-stats"),
    path(f"{OFFICE}/scheduler/config", office_scheduler.ConfigView.as_view(), name="scheduler-config"),
    path(f"{OFFICE}/scheduler/process", office_scheduler.ProcessView.as_view(), name="scheduler-process"),
    path(f"{OFFICE}/jobs", jobs.JobListView.as_view(), name="office-jobs"),
    path(f"{OFFICE}/jobs/cancel-all", control.CancelAllView.as_view(), name="cancel-all"),
    path(JOB, jobs.JobDetailView.as_view(), name="office-job"),
    path(f"{JOB}/logs", run_logs.JobLogView.as_view(), name="job-log"),
    path(f"{JOB}/logs.txt", run_logs.JobLogFileView.as_view(), name="job-log-file"),
    path(f"{JOB}/explain", explain.ExplainView.as_view(), name="explain"),
    path(f"{JOB}/retry", control.RetryView.as_view(), name="retry"),
    path(f"{JOB}/cancel", control.CancelView.as_view(), name="cancel"),
    path(f"{JOB}/priority", control.PriorityView.as_view(), name="priority"),
    path(f"{OFFICE}/batches", batches.BatchListView.as_view(), name="batches"),
    path(f"{OFFICE}/batches/<uuid:batch_id>", batches.BatchDetailView.as_view(), name="batch"),
    path(f"{OFFICE}/events", events.EventListView.as_view(), name="events"),
    path(f"{OFFICE}/webhooks", webhooks.WebhookListView.as_view(), name="webhooks"),
    path(WEBHOOK, webhooks.WebhookDetailView.as_view(), name="webhook"),
    path(f"{WEBHOOK}/rotate", webhooks.RotateView.as_view(), name="rotate-webhook"),
    path(f"{WEBHOOK}/test", webhooks.TestView.as_view(), name="test-webhook"),
    path(f"{WEBHOOK}/deliveries", webhooks.DeliveryListView.as_view(), name="deliveries"),
    path(
        f"{WEBHOOK}/deliveries/<int:delivery_id>/send-again",
        webhooks.SendAgainView.as_view(),
        name="send-again",
    ),
    path("roles", queues.QueueListView.as_view(), name="roles"),
    path("roles/<str:role>/pause", queues.PauseQueueView.as_view(), name="pause-role"),
    path("roles/<str:role>/resume", queues.ResumeQueueView.as_view(), name="resume-role"),
    path("tasks", tasks.TaskListView.as_view(), name="tasks"),
    path("tasks/<str:task_id>", tasks.TaskDetailView.as_view(), name="task"),
]
