"""Composes the system: settings, the Celery app, URLs, sockets and the processes that run it.

Nothing here decides anything about jobs; the apps do, and none of them imports this package.
"""
