"""A step queue's runs: started, waited for, cancelled, and their story."""

import json
from typing import Any, cast

from django.http import HttpResponseBase
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.views import ACTS
from jobs.rest.filtering import refuse_unknown
from jobs.rest.idempotency import idempotent
from jobs.rest.problems import Problem
from scheduler.step_queues import bells, lifecycle, shapes
from scheduler.step_queues.api.views import QueueView, fresh
from scheduler.step_queues.models import StepEvent
from scheduler.step_queues.states import StepEventType

LONGEST_WAIT = 60
MOST_EVENTS = 1_000


@extend_schema(tags=["step queues"])
class RunView(QueueView):
    @extend_schema(
        operation_id="run_queue",
        request=None,
        parameters=[OpenApiParameter("wait", float, description=f"Seconds, at most {LONGEST_WAIT}.")],
        responses={202: shapes.QueueDocument, 200: shapes.QueueDocument},
    )
    def post(self, request: Request, queue_id: int) -> HttpResponseBase:
        """Run it from its first job. With `wait`, 200 and the return message once this run has ended."""
        refuse_unknown(request, ("wait",))
        seconds = _wait_of(request)
        queue = self.queue(ACTS)
        if seconds:
            bells.watch(queue.queue_id, seconds + 1)
        started = self._start(request)
        if not seconds:
            return started
        # Outside of the transaction in which an Idempotency-Key is kept: nothing would be sent in it.
        number = _run_of(started)
        ended = bells.wait(queue.queue_id, lambda: _end_of(queue.queue_id, number), seconds)
        if ended is None:
            return started
        found = shapes.queue(fresh(queue.queue_id))
        # Another run may have begun since: the answer is about this one.
        return Response(found | {"run": number} | ended.details)

    post.is_idempotent = True  # type: ignore[attr-defined]  # the API's schema shows the header

    @idempotent
    def _start(self, request: Request) -> Response:
        queue_id = self.kwargs["queue_id"]
        lifecycle.run(queue_id)
        return self.accepted(queue_id)


@extend_schema(tags=["step queues"])
class CancelView(QueueView):
    @extend_schema(operation_id="cancel_queue", request=None, responses={202: shapes.QueueDocument})
    def post(self, request: Request, queue_id: int) -> Response:
        """Have a run turn back from where it is (409 when it does not walk forward)."""
        lifecycle.cancel(self.queue(ACTS).queue_id)
        return self.accepted(queue_id)


@extend_schema(tags=["step queues"])
class EventsView(QueueView):
    @extend_schema(
        operation_id="list_queue_events",
        responses=shapes.StepEventListDocument,
        parameters=[
            OpenApiParameter("after", int, description="Only later ones.", default=0),
            OpenApiParameter("limit", int, description=f"1 to {MOST_EVENTS}.", default=100),
        ],
    )
    def get(self, request: Request, queue_id: int) -> Response:
        """What happened to the queue, in order and without a gap."""
        refuse_unknown(request, ("after", "limit"))
        after = _number(request, "after", 0, 0, 2**63 - 1)
        limit = _number(request, "limit", 100, 1, MOST_EVENTS)
        found = StepEvent.objects.filter(queue=self.queue(), id__gt=after).order_by("id")[:limit]
        results = [shapes.event(one) for one in found]
        return Response({"results": results, "next_after": results[-1]["id"] if results else after})


def _end_of(queue_id: int, number: int) -> StepEvent | None:
    finished = StepEvent.objects.filter(queue=queue_id, run=number, type=StepEventType.FINISHED)
    return finished.order_by("id").first()


def _run_of(started: HttpResponseBase) -> int:
    """Which run was started, by this request or by the first one with its Idempotency-Key."""
    data = getattr(started, "data", None)
    return int((data or json.loads(cast(Any, started).content))["run"])


def _wait_of(request: Request) -> float:
    text = request.query_params.get("wait", "0")
    sentence = f"Must be a number of seconds, 0 to {LONGEST_WAIT}."
    try:
        seconds = float(text) if len(text) < 20 else -1.0
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= LONGEST_WAIT:
        raise Problem(400, "invalid", f"wait: {sentence}", errors={"wait": [sentence]})
    return seconds


def _number(request: Request, name: str, default: int, low: int, high: int) -> int:
    text = request.query_params.get(name)
    if text is None:
        return default
    number = int(text) if text.isascii() and text.isdecimal() and len(text) <= 19 else -1
    if not low <= number <= high:
        sentence = f"Must be a whole number from {low} to {high}."
        raise Problem(400, "invalid", f"{name}: {sentence}", errors={name: [sentence]})
    return number
