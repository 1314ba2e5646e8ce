"""A consumer that gives back the runs of Tasks that its worker does not have."""

import logging
from typing import Any

from celery.worker.consumer import Consumer

from jobs import publish
from jobs.worker import give_back

log = logging.getLogger(__name__)


class EngineConsumer(Consumer):  # type: ignore[misc]
    def on_unknown_task(self, body: Any, message: Any, exc: BaseException) -> None:
        headers = message.headers
        if publish.execution_of(str(headers.get("id"))) is None:
            super().on_unknown_task(body, message, exc)
            return
        log.warning("gave back a run of %s: this worker does not have the Task", headers["task"])
        execution, dispatch = message.payload[0]
        send = publish.Send(
            execution=execution,
            dispatch=dispatch,
            role=message.delivery_info["routing_key"],
            task_id=headers["task"],
            level=message.properties.get("priority", publish.FAIR),
            retries=headers.get("retries", 0),
        )
        message.reject_log_error(log, self.connection_errors)
        give_back.send_later(self.timer, send, headers.get(publish.LSN, ""))
