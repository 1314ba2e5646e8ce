"""Registers Dure's own Tasks in every process; Celery finds this module by its name.

DURE_WORKER_MODULES adds modules of your own, which workers import; docs/tasks.md shows how.
"""

from workers import command, demo, http, provisioning

__all__ = ["command", "demo", "http", "provisioning"]
