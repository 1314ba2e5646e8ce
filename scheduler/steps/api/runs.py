"""Running a step queue, waiting for the end, cancelling, and the events."""

import json
from typing import Any, cast

from django.http import HttpResponseBase
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.framework import waiting
from jobs.api.framework.filtering import reject_unknown
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_errors import problems
from jobs.api.framework.openapi_examples import in_response
from jobs.api.framework.query import Seconds, WholeNumber
from jobs.api.views import OPERATOR
from scheduler.steps import lifecycle, pubsub
from scheduler.steps.api import examples, schemas
from scheduler.steps.api.views import QueueView, read_queue
from scheduler.steps.models import StepEvent
from scheduler.steps.states import StepEventType

WAIT = Seconds("wait", "How long to wait for the end of this run, in seconds.", most=60)
AFTER = WholeNumber("after", "Only events with a greater id than this.", default=0, low=0, high=2**63 - 1)
LIMIT = WholeNumber("limit", "The largest number of events to return.", default=100, low=1, high=1_000)


class RunView(QueueView):
    @extend_schema(
        operation_id="run_queue",
        parameters=[WAIT.openapi],
        responses={202: schemas.StepQueueOut, 200: schemas.StepQueueOut},
        examples=[
            in_response("accepted", examples.RUNNING_QUEUE, 202),
            in_response("it has ended", examples.ENDED_QUEUE, 200),
        ],
        extensions=problems("queue_empty", "queue_running"),
    )
    def post(self, request: Request, queue_id: int) -> HttpResponseBase:
        """Run a queue from its first job. With `wait`, answer 200 once the run has ended."""
        reject_unknown(request, ("wait",))
        seconds = WAIT.of(request)
        queue = self.queue(OPERATOR)
        if seconds:
            pubsub.watch(queue.queue_id, seconds + 1)
        started = self._start(request)
        if not seconds:
            return started
        number = _run_number(started)
        # Outside the transaction that stores an Idempotency-Key: inside it no message would be sent.
        with waiting.waiting_slot() as may_wait:
            ended = (
                pubsub.wait_for(queue.queue_id, lambda: _finished_event(queue.queue_id, number), seconds)
                if may_wait
                else None
            )
        if ended is None:
            return started
        body = schemas.StepQueueOut.write(read_queue(queue.queue_id))
        # Another run may have started since; the answer describes this one.
        return Response(body | {"run": number} | ended.details)

    post.is_idempotent = True  # type: ignore[attr-defined]  # the API schema shows the header

    @idempotent
    def _start(self, request: Request) -> Response:
        queue_id = self.kwargs["queue_id"]
        lifecycle.run(queue_id)
        return self.accepted_response(queue_id)


class ResumeView(QueueView):
    @extend_schema(
        operation_id="resume_queue",
        responses={202: schemas.StepQueueOut},
        examples=[in_response("accepted", examples.RUNNING_QUEUE)],
        extensions=problems("queue_running", "nothing_to_resume"),
    )
    def post(self, request: Request, queue_id: int) -> Response:
        """Go forward again in a run that has rolled back, from the first job that has to run again."""
        lifecycle.resume(self.queue(OPERATOR).queue_id)
        return self.accepted_response(queue_id)


class CancelView(QueueView):
    @extend_schema(
        operation_id="cancel_queue",
        responses={202: schemas.StepQueueOut},
        examples=[in_response("the queue will roll back", examples.CANCELLING_QUEUE)],
        extensions=problems("nothing_to_cancel"),
    )
    def post(self, request: Request, queue_id: int) -> Response:
        """Cancel a run. The queue rolls back from its current job."""
        lifecycle.cancel(self.queue(OPERATOR).queue_id)
        return self.accepted_response(queue_id)


class EventsView(QueueView):
    @extend_schema(
        operation_id="list_queue_events",
        responses=schemas.StepQueueEventListOut,
        parameters=[AFTER.openapi, LIMIT.openapi],
    )
    def get(self, request: Request, queue_id: int) -> Response:
        """List a queue's events, oldest first. Continue with `after` set to `next_after` to miss none."""
        reject_unknown(request, ("after", "limit"))
        after, limit = AFTER.of(request), LIMIT.of(request)
        events = StepEvent.objects.filter(queue=self.queue(), id__gt=after).order_by("id")[:limit]
        results = list(events)
        last = results[-1].id if results else after
        return Response(schemas.StepQueueEventListOut.write({"results": results, "next_after": last}))


def _finished_event(queue_id: int, number: int) -> StepEvent | None:
    finished = StepEvent.objects.filter(queue=queue_id, run=number, type=StepEventType.FINISHED)
    return finished.order_by("id").first()


def _run_number(started: HttpResponseBase) -> int:
    """The run that this request started, or the first request with the same Idempotency-Key."""
    data = getattr(started, "data", None)
    return int((data or json.loads(cast(Any, started).content))["run"])
