"""What every process loads to know the Tasks. Celery finds this module by its name.

Your own modules come in through DURE_WORKER_MODULES; `docs/tasks.md` shows how.
"""

from importlib import import_module

from django.conf import settings

from workers import command, demo, http, provisioning

__all__ = ["command", "demo", "http", "provisioning"]

for module in settings.DURE_WORKER_MODULES:
    import_module(module)
