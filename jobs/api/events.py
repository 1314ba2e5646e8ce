"""What happened in an office, in order, to be read on from any point."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import serialize
from jobs.api import documents
from jobs.api.framework.filtering import refuse_unknown
from jobs.api.framework.query import Whole
from jobs.api.views import OfficeView
from jobs.models import Event
from jobs.states import TOLD_TO_CLIENTS

AFTER = Whole("after", "Only events with a greater id than this.", default=0, low=0, high=2**63 - 1)
LIMIT = Whole("limit", "How many at the most.", default=100, low=1, high=1_000)


class EventListView(OfficeView):
    """The list that sockets and webhooks tell from as well."""

    @extend_schema(
        operation_id="list_events",
        tags=["events"],
        summary="An office's events, oldest first",
        description="Ask on after `next_after` and nothing is missed: a later event has a greater id.",
        parameters=[AFTER.described, LIMIT.described],
        responses=documents.EventListDocument,
    )
    def get(self, request: Request, office_id: UUID) -> Response:
        office = self.office()
        refuse_unknown(request, ("after", "limit"))
        after, limit = AFTER.of(request), LIMIT.of(request)
        told = Event.objects.filter(office_id=office.id, id__gt=after, type__in=TOLD_TO_CLIENTS)
        found = list(told.order_by("id")[:limit])
        return Response(
            {
                "results": [serialize.event_json(event) for event in found],
                "next_after": found[-1].id if found else after,
            }
        )
