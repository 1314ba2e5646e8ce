"""The addresses of this app's sockets."""

from django.urls import URLPattern, path

from jobs.sockets.events import EventsSocket

urlpatterns: list[URLPattern] = [
    path("ws/offices/<uuid:office_id>/events", EventsSocket.as_asgi()),
]
