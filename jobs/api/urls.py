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
    path("offices", office.OfficeListView.as_view()),
    path(OFFICE, office.OfficeDetailView.as_view()),
    path(f"{OFFICE}/members", members.MemberListView.as_view()),
    path(f"{OFFICE}/members/<str:username>", members.MemberDetailView.as_view()),
    path(f"{OFFICE}/scheduler/stats", office_scheduler.StatsView.as_view()),
    path(f"{OFFICE}/scheduler/config", office_scheduler.ConfigView.as_view()),
    path(f"{OFFICE}/scheduler/process", office_scheduler.ProcessView.as_view()),
    path(f"{OFFICE}/jobs", jobs.JobListView.as_view()),
    path(f"{OFFICE}/jobs/cancel-all", control.CancelAllView.as_view()),
    path(JOB, jobs.JobDetailView.as_view()),
    path(f"{JOB}/logs", run_logs.JobLogView.as_view()),
    path(f"{JOB}/logs.txt", run_logs.JobLogFileView.as_view()),
    path(f"{JOB}/explain", explain.ExplainView.as_view()),
    path(f"{JOB}/retry", control.RetryView.as_view()),
    path(f"{JOB}/cancel", control.CancelView.as_view()),
    path(f"{JOB}/priority", control.PriorityView.as_view()),
    path(f"{OFFICE}/batches", batches.BatchListView.as_view()),
    path(f"{OFFICE}/batches/<uuid:batch_id>", batches.BatchDetailView.as_view()),
    path(f"{OFFICE}/events", events.EventListView.as_view()),
    path(f"{OFFICE}/webhooks", webhooks.WebhookListView.as_view()),
    path(WEBHOOK, webhooks.WebhookDetailView.as_view()),
    path(f"{WEBHOOK}/rotate", webhooks.RotateView.as_view()),
    path(f"{WEBHOOK}/test", webhooks.TestView.as_view()),
    path(f"{WEBHOOK}/deliveries", webhooks.DeliveryListView.as_view()),
    path(f"{WEBHOOK}/deliveries/<int:delivery_id>/send-again", webhooks.SendAgainView.as_view()),
    path("roles", queues.QueueListView.as_view()),
    path("roles/<str:role>/pause", queues.PauseQueueView.as_view()),
    path("roles/<str:role>/resume", queues.ResumeQueueView.as_view()),
    path("tasks", tasks.TaskListView.as_view()),
    path("tasks/<str:task_id>", tasks.TaskDetailView.as_view()),
]
