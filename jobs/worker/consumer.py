"""A consumer that gives back the runs of Tasks that its worker does not have, and sends events together."""

import logging
import time
from typing import Any

from celery.worker.consumer import Consumer

from jobs import publish
from jobs.worker import give_back

log = logging.getLogger(__name__)


# Events wait this long for more, which then share a message.
EVENT_SECONDS = 0.05


class EngineConsumer(Consumer):  # type: ignore[misc]
    # The time of the next flush, if one is due. A reconnect clears the timer, so this is no flag.
    _flushes_at = 0.0

    def on_send_event_buffered(self) -> None:
        """Celery would send a message in each pass of its loop, for one or two events."""
        now = time.monotonic()
        if now >= self._flushes_at:
            self._flushes_at = now + EVENT_SECONDS
            self.hub.call_later(EVENT_SECONDS, self._flush_events)

    def _flush_events(self) -> None:
        self._flushes_at = 0.0
        super()._flush_events()

    def shutdown(self) -> None:
        """The pool has ended, and its last runs have events."""
        self._flush_events()
        super().shutdown()

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
        give_back.send_later(self.timer, send, bool(headers.get(publish.EARLY)))
