"""A consumer that gives back the runs of Tasks that its worker does not have."""

import logging
import random
from typing import Any

from celery.worker.consumer import Consumer

from jobs import publish

log = logging.getLogger(__name__)

# Another worker of the queue may have the Task; until one takes it, it comes around this often. Redis gives
# a message to the worker that has waited longest, and each waits a second at a time: with a pause that is
# always the same, the same worker could get it every time.
GIVE_BACK_SECONDS = (0.05, 1.0)


class EngineConsumer(Consumer):  # type: ignore[misc]
    def on_unknown_task(self, body: Any, message: Any, exc: BaseException) -> None:
        """Send it again after a moment. If this worker dies before, the sweep does so."""
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
        pause = random.uniform(*GIVE_BACK_SECONDS)
        self.timer.call_after(pause, publish.send_messages, ([send],))
