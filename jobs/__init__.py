"""The engine: offices, jobs and their graph, Executions and every transition they make.

PostgreSQL is the truth here; a Celery message is a doorbell. This package imports no other app.
"""
