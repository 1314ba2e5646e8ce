"""Addresses of the pages about the whole."""

from django.urls import path

from scheduler.pages import monitor

urlpatterns = [
    path("", monitor.page, name="monitor"),
    path("monitor/live", monitor.live, name="monitor-live"),
]
