"""The events of an office, in order, readable from any point."""

from uuid import UUID

from drf_spectacular.utils import extend_schema, extend_schema_serializer
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api import examples
from jobs.api.framework.openapi_examples import in_response
from jobs.api.framework.query import WholeNumber, read_parameters
from jobs.api.views import OfficeView
from jobs.api_model import ApiOut
from jobs.queries import client_events_after
from jobs.schemas import SchedulerEventOut
from jobs.serialize import event_of

AFTER = WholeNumber("after", "Only events with a greater id than this.", default=0, low=0, high=2**63 - 1)
LIMIT = WholeNumber("limit", "Maximum number of events.", default=100, low=1, high=1_000)


@extend_schema_serializer(
    examples=[in_response("one event", {"results": [examples.EVENT], "next_after": 4711})]
)
class EventListOut(ApiOut):
    results: list[SchedulerEventOut]
    next_after: int = Field(description="The `after` of the next request.")


class EventListView(OfficeView):
    @extend_schema(
        operation_id="list_events",
        parameters=[AFTER.openapi, LIMIT.openapi],
        responses=EventListOut,
    )
    def get(self, request: Request, office_id: UUID) -> Response:
        """An office's events, oldest first.

        Continue after `next_after` to miss nothing: a later event has a greater id.
        """
        office = self.office()
        after, limit = read_parameters(request, AFTER, LIMIT)
        results = [event_of(event) for event in client_events_after(office.id, after, limit)]
        next_after = results[-1].id if results else after
        return Response(EventListOut.write({"results": results, "next_after": next_after}))
