"""The engine: offices, jobs and their graph, Executions and every transition they make.

PostgreSQL holds the truth; a Celery message only says "look". This package imports no other app.
"""
