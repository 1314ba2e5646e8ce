"""The baseline: no-op tasks of Celery over the same Redis, with results."""

import os
import time

from celery import Celery

app = Celery(
    "raw", broker=os.environ["RAW_BROKER_URL"], backend=os.environ["RAW_RESULT_URL"], set_as_current=False
)
app.conf.update(
    task_serializer="json",
    result_serializer="json",
    accept_content=["json"],
    worker_prefetch_multiplier=4,
    broker_connection_retry_on_startup=True,
    task_default_queue="raw",
    result_expires=600,
    task_ignore_result=False,
)


@app.task(name="raw.noop")  # type: ignore[untyped-decorator]
def noop(*_: object) -> None:
    return None


@app.task(name="raw.clock")  # type: ignore[untyped-decorator]
def clock(*_: object) -> float:
    """Returns the start time."""
    return time.time()
