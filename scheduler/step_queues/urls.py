"""The addresses of step queues, below /api/."""

from django.urls import path

from scheduler.step_queues import api

urlpatterns = [
    path("queues", api.QueuesView.as_view()),
    path("queues/<int:queue_id>", api.OneQueueView.as_view()),
    path("queues/<int:queue_id>/jobs", api.StepsView.as_view()),
    path("queues/<int:queue_id>/jobs/<uuid:job_id>", api.OneStepView.as_view()),
    path("queues/<int:queue_id>/jobs/<uuid:job_id>/rerun", api.RerunView.as_view()),
    path("queues/<int:queue_id>/run", api.RunView.as_view()),
    path("queues/<int:queue_id>/cancel", api.CancelView.as_view()),
    path("queues/<int:queue_id>/events", api.EventsView.as_view()),
    path("libraries", api.LibrariesView.as_view()),
    path("libraries/<str:name>", api.OneLibraryView.as_view()),
]
