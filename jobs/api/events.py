"""What happened in an office, in order, to be read on from any point."""

from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api import documents, shapes
from jobs.api.views import OfficeView
from jobs.models import Event
from jobs.rest.filtering import refuse_unknown
from jobs.rest.serializers import StrictSerializer
from jobs.states import TOLD_TO_CLIENTS

MOST_AT_ONCE = 1_000


class WindowSerializer(StrictSerializer):
    after = serializers.IntegerField(required=False, default=0, min_value=0, max_value=2**63 - 1)
    limit = serializers.IntegerField(required=False, default=100, min_value=1, max_value=MOST_AT_ONCE)


class EventListView(OfficeView):
    """The list that sockets and webhooks tell from as well."""

    @extend_schema(
        operation_id="list_events",
        tags=["events"],
        summary="An office's events, oldest first",
        description="Ask on after `next_after` and nothing is missed: a later event has a greater id.",
        parameters=[WindowSerializer],
        responses=documents.EventListDocument,
    )
    def get(self, request: Request, office_id: UUID) -> Response:
        office = self.office()
        refuse_unknown(request, ("after", "limit"))
        window = WindowSerializer(data=request.query_params.dict())
        window.is_valid(raise_exception=True)
        after, limit = window.validated_data["after"], window.validated_data["limit"]
        found = list(
            Event.objects.filter(office_id=office.id, id__gt=after, type__in=TOLD_TO_CLIENTS).order_by("id")[
                :limit
            ]
        )
        return Response(
            {
                "results": [shapes.event(event) for event in found],
                "next_after": found[-1].id if found else after,
            }
        )
