"""Registers the Tasks in every process; Celery finds this module by its name.

DURE_WORKER_MODULES adds modules of your own; docs/tasks.md shows how.
"""

from importlib import import_module

from django.conf import settings

from workers import command, demo, http, provisioning

__all__ = ["command", "demo", "http", "provisioning"]

for module in settings.DURE_WORKER_MODULES:
    import_module(module)
