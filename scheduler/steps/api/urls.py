"""The URLs of step queues, below /api/."""

from django.urls import path

from scheduler.steps.api import jobs, libraries, queues, runs, steps

urlpatterns = [
    path("queues", queues.QueuesView.as_view()),
    path("queues/<int:queue_id>", queues.OneQueueView.as_view()),
    path("queues/<int:queue_id>/jobs", steps.StepsView.as_view()),
    path("queues/<int:queue_id>/jobs/<uuid:job_id>", steps.OneStepView.as_view()),
    path("queues/<int:queue_id>/jobs/<uuid:job_id>/rerun", steps.RerunView.as_view()),
    path("queues/<int:queue_id>/copy", queues.CopyView.as_view()),
    path("queues/<int:queue_id>/check", queues.CheckView.as_view()),
    path("queues/<int:queue_id>/run", runs.RunView.as_view()),
    path("queues/<int:queue_id>/resume", runs.ResumeView.as_view()),
    path("queues/<int:queue_id>/cancel", runs.CancelView.as_view()),
    path("queues/<int:queue_id>/events", runs.EventsView.as_view()),
    path("steps", jobs.JobsView.as_view()),
    path("steps/<uuid:job_id>", jobs.OneJobView.as_view()),
    path("libraries", libraries.LibrariesView.as_view()),
    path("libraries/<str:name>", libraries.OneLibraryView.as_view()),
]
