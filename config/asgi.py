"""The ASGI application: Django over HTTP, and the WebSockets of all apps."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from channels.routing import ProtocolTypeRouter, URLRouter
from django.urls import re_path

from config.handler import Handler
from exports import sockets as exports_sockets
from jobs.api.framework.throttling import check_rates
from jobs.sockets import events
from jobs.sockets.authentication import Authentication, OwnPagesOnly
from jobs.sockets.base import NoSuchSocket
from scheduler import sockets as run_log_sockets
from scheduler.steps import sockets as step_sockets

check_rates()

# The last pattern matches unknown paths; without it the router raises.
socket_patterns = [
    *events.urlpatterns,
    *run_log_sockets.urlpatterns,
    *step_sockets.urlpatterns,
    *exports_sockets.urlpatterns,
    re_path(r"", NoSuchSocket.as_asgi()),
]

application = ProtocolTypeRouter(
    {
        "http": Handler(),
        "websocket": OwnPagesOnly(Authentication(URLRouter(socket_patterns))),
    }
)
