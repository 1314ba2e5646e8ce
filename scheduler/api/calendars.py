"""Calendars: the days and maintenance windows at which schedules skip their runs."""

from typing import Annotated
from uuid import UUID

from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs.api.framework.authentication import user_of
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_errors import problems
from jobs.api.framework.openapi_examples import in_request
from jobs.api.framework.reading import read, read_changes
from jobs.api_model import ApiIn
from jobs.field_types import Name
from scheduler.access import calendar_for, calendars_of
from scheduler.api import examples
from scheduler.api.schemas import CalendarOut
from scheduler.clock import database_now
from scheduler.models import Calendar
from scheduler.schedules import calendars
from scheduler.schedules.calendars import MAX_ENTRIES
from scheduler.schedules.timezones import KOREAN_TIME

# The domain parses these texts, and reads a time without an offset as Korean.
A_TIME = Field(json_schema_extra={"format": "date-time"})
A_DAY = Field(json_schema_extra={"format": "date"})


class WindowIn(ApiIn):
    starts_at: Annotated[str, Field(min_length=1, max_length=40), A_TIME] = Field(
        description="Without an offset it is Korean time."
    )
    ends_at: Annotated[str, Field(min_length=1, max_length=40), A_TIME] = Field(
        description="The first moment after the window."
    )


class CalendarIn(ApiIn):
    name: Name
    dates: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=10), A_DAY]], Field(max_length=MAX_ENTRIES)
    ] = Field(default_factory=list, description="Whole days in the time zone, like `2026-12-25`.")
    windows: Annotated[list[WindowIn], Field(max_length=MAX_ENTRIES)] = Field(
        default_factory=list, description="Maintenance windows."
    )
    timezone: Annotated[str, Field(min_length=1, max_length=64)] = Field(
        KOREAN_TIME, description="That of `dates`."
    )


class CalendarsView(GenericAPIView[Calendar]):
    @extend_schema(operation_id="list_calendars", responses=list[CalendarOut])
    def get(self, request: Request) -> Response:
        """List your calendars, by name. Staff see the calendars of all users."""
        page = self.paginate_queryset(calendars_of(user_of(request)))
        return self.get_paginated_response([CalendarOut.write(row) for row in page or ()])

    @extend_schema(
        operation_id="create_calendar",
        request=CalendarIn,
        responses={201: CalendarOut},
        examples=[in_request("holidays and a maintenance window", examples.NEW_CALENDAR)],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a calendar."""
        values = read(CalendarIn, request.data).values()
        calendar = calendars.create(values, owner=user_of(request), now=database_now())
        location = request.build_absolute_uri(f"/api/calendars/{calendar.id}")
        return Response(CalendarOut.write(calendar), status=201, headers={"Location": location})


class OneCalendarView(APIView):
    def calendar(self, *, acts: bool = False) -> Calendar:
        return calendar_for(user_of(self.request), self.kwargs["calendar_id"], acts=acts)

    @extend_schema(operation_id="show_calendar", responses=CalendarOut)
    def get(self, request: Request, calendar_id: UUID) -> Response:
        """Show a calendar."""
        return Response(CalendarOut.write(self.calendar()))

    @extend_schema(
        operation_id="change_calendar",
        request=CalendarIn,
        responses=CalendarOut,
        examples=[in_request("other holidays", {"dates": ["2026-12-25", "2027-01-01"]})],
    )
    def patch(self, request: Request, calendar_id: UUID) -> Response:
        """Change a calendar. It counts for the next scheduled run of each schedule that uses it."""
        values = read_changes(CalendarIn, request.data)
        changed = calendars.change(self.calendar(acts=True).id, values, now=database_now())
        return Response(CalendarOut.write(changed))

    @extend_schema(
        operation_id="delete_calendar", responses={204: None}, extensions=problems("calendar_in_use")
    )
    def delete(self, request: Request, calendar_id: UUID) -> Response:
        """Delete a calendar that no schedule uses."""
        calendars.remove(self.calendar(acts=True).id, now=database_now())
        return Response(status=204)
