"""Schedules: create, change, pause, resume, delete, and preview their next times."""

from typing import Any
from uuid import UUID

from django_filters import rest_framework as filters
from drf_spectacular.utils import extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs.api.framework.authentication import user_of
from jobs.api.framework.filtering import FlagFilter, reject_unknown
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_examples import in_request, in_response
from jobs.api.framework.pagination import RoughPagination
from jobs.api.framework.query import WholeNumber
from jobs.api.framework.reading import read, read_changes
from scheduler.access import schedule_for, schedules_of
from scheduler.api import examples, shapes
from scheduler.api.schedule_fields import MAX_TIMES, PreviewIn, ScheduleIn
from scheduler.api.schemas import KINDS, NextTimesOut, OccurrenceOut, ScheduleOut
from scheduler.clock import database_now
from scheduler.models import Occurrence, Schedule
from scheduler.schedules import calendars, rules
from scheduler.schedules import lifecycle as schedules
from scheduler.schedules.validation import check_rule
from scheduler.states import OccurrenceOutcome

COUNT = WholeNumber("count", "How many times.", default=5, low=1, high=MAX_TIMES)


class ScheduleFilter(filters.FilterSet):  # type: ignore[misc]
    task_id = filters.CharFilter(help_text="Only those that run this Task.")
    kind = filters.ChoiceFilter(
        choices=[(kind, kind) for kind in KINDS], help_text="Only those of this kind."
    )
    enabled = FlagFilter(help_text="Only those that are not paused, or only those that are.")
    name = filters.CharFilter(lookup_expr="icontains", help_text="Only those with this in their name.")


class ScheduleView(APIView):
    """A view of one schedule."""

    def schedule(self, *, acts: bool = False) -> Schedule:
        return schedule_for(user_of(self.request), self.kwargs["schedule_id"], acts=acts)


class SchedulesView(GenericAPIView[Schedule]):
    filterset_class = ScheduleFilter
    queryset = Schedule.objects.none()

    @extend_schema(operation_id="list_schedules", responses=list[ScheduleOut])
    def get(self, request: Request) -> Response:
        """List your schedules, by name. Staff see the schedules of all users."""
        page = self.paginate_queryset(self.filter_queryset(schedules_of(user_of(request))))
        return self.get_paginated_response([ScheduleOut.write(row) for row in page or ()])

    @extend_schema(
        operation_id="create_schedule",
        request=ScheduleIn,
        responses={201: ScheduleOut},
        examples=[
            in_request("every morning", examples.NEW_SCHEDULE),
            in_request("every minute, also while the previous run continues", examples.EVERY_MINUTE),
        ],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Create a schedule. Its rule counts from now on."""
        values = read(ScheduleIn, request.data).values()
        schedule = schedules.create(values, owner=user_of(request), now=database_now())
        location = request.build_absolute_uri(f"/api/schedules/{schedule.id}")
        return Response(ScheduleOut.write(schedule), status=201, headers={"Location": location})


class OneScheduleView(ScheduleView):
    @extend_schema(operation_id="show_schedule", responses=ScheduleOut)
    def get(self, request: Request, schedule_id: UUID) -> Response:
        """Show a schedule."""
        return Response(ScheduleOut.write(self.schedule()))

    @extend_schema(
        operation_id="change_schedule",
        request=ScheduleIn,
        responses=ScheduleOut,
        examples=[in_request("an hour later", {"cron": "0 10 * * *"})],
    )
    def patch(self, request: Request, schedule_id: UUID) -> Response:
        """Change a schedule. A change of the rule counts from now; other changes keep the next run."""
        return self._change(read_changes(ScheduleIn, request.data))

    @extend_schema(
        operation_id="replace_schedule",
        request=ScheduleIn,
        responses=ScheduleOut,
        examples=[in_request("every morning", examples.NEW_SCHEDULE)],
    )
    def put(self, request: Request, schedule_id: UUID) -> Response:
        """Replace a schedule. Fields that the request does not name get their defaults."""
        return self._change(read(ScheduleIn, request.data).model_dump())

    @extend_schema(operation_id="delete_schedule", responses={204: None})
    def delete(self, request: Request, schedule_id: UUID) -> Response:
        """Delete a schedule. Its runs stay visible; those in progress continue."""
        schedules.remove(self.schedule(acts=True).id, now=database_now())
        return Response(status=204)

    def _change(self, values: dict[str, Any]) -> Response:
        changed = schedules.change(self.schedule(acts=True).id, values, now=database_now())
        return Response(ScheduleOut.write(changed))


@extend_schema(responses=ScheduleOut)
class PauseScheduleView(ScheduleView):
    @extend_schema(operation_id="pause_schedule", examples=[in_response("paused", examples.PAUSED_SCHEDULE)])
    def post(self, request: Request, schedule_id: UUID) -> Response:
        """Pause a schedule. Runs due while it is paused are not backfilled."""
        paused = schedules.pause(self.schedule(acts=True).id, now=database_now())
        return Response(ScheduleOut.write(paused))


@extend_schema(responses=ScheduleOut)
class ResumeScheduleView(ScheduleView):
    @extend_schema(operation_id="resume_schedule")
    def post(self, request: Request, schedule_id: UUID) -> Response:
        """Resume a schedule. Its rule counts from now on."""
        resumed = schedules.resume(self.schedule(acts=True).id, now=database_now())
        return Response(ScheduleOut.write(resumed))


class NextTimesView(ScheduleView):
    @extend_schema(
        operation_id="next_times",
        responses=NextTimesOut,
        parameters=[COUNT.openapi],
    )
    def get(self, request: Request, schedule_id: UUID) -> Response:
        """List the next times at which a schedule fires. A paused schedule has none."""
        reject_unknown(request, ("count",))
        count = COUNT.of(request)
        schedule, now = self.schedule(), database_now()
        times = calendars.next_times(schedule, now, count)
        return Response(shapes.next_times_json(schedule.rule, times, now))


class PreviewView(APIView):
    @extend_schema(
        operation_id="preview_schedule",
        request=PreviewIn,
        responses=NextTimesOut,
        examples=[in_request("every morning", examples.RULE)],
    )
    def post(self, request: Request) -> Response:
        """Preview a rule that is not saved: its next times, and the rule in words."""
        preview = read(PreviewIn, request.data)
        now = database_now()
        rule = check_rule(preview.values(), now)
        return Response(shapes.next_times_json(rule, rules.upcoming_times(rule, now, preview.count), now))


class OccurrenceFilter(filters.FilterSet):  # type: ignore[misc]
    turn = filters.ChoiceFilter(
        field_name="outcome", choices=OccurrenceOutcome.choices, help_text="Only those with this outcome."
    )


class OccurrencesView(ScheduleView, GenericAPIView[Occurrence]):
    pagination_class = RoughPagination
    filterset_class = OccurrenceFilter
    queryset = Occurrence.objects.none()

    @extend_schema(operation_id="list_turns", responses=list[OccurrenceOut])
    def get(self, request: Request, schedule_id: UUID) -> Response:
        """List the scheduled runs, newest first, with their outcome: run, skipped or missed."""
        occurrences = Occurrence.objects.filter(schedule=self.schedule()).order_by("-due_at")
        page = self.paginate_queryset(self.filter_queryset(occurrences))
        return self.get_paginated_response([OccurrenceOut.write(row) for row in page or ()])
