"""Schedules: made, changed, held, resumed, deleted; and when they fire next."""

from typing import Any
from uuid import UUID

from django_filters import rest_framework as filters
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.shapes import moment
from jobs.rest.authentication import user_of
from jobs.rest.filtering import FilterBackend, refuse_unknown
from jobs.rest.idempotency import idempotent
from jobs.rest.pagination import PagePagination, RoughPagination
from jobs.rest.problems import Problem
from jobs.rest.serializers import StrictSerializer
from scheduler import rules
from scheduler.access import schedule_for, schedules_of
from scheduler.api import shapes
from scheduler.api.documents import KINDS, POLICIES, NextDocument, ScheduleDocument, TurnDocument
from scheduler.clock import database_now
from scheduler.definition import LONGEST_INTERVAL, MOST_RETRIES, check_rule
from scheduler.lifecycle import schedules
from scheduler.models import Occurrence, Schedule
from scheduler.recurrence import KOREAN_TIME
from scheduler.states import Overlap, Turn

MOST_SHOWN = 100


class RuleSerializer(StrictSerializer):
    """When: what a preview takes, and a part of what a schedule takes."""

    kind = serializers.ChoiceField(KINDS)
    cron = serializers.CharField(required=False, allow_null=True, allow_blank=True, max_length=1000)
    every_seconds = serializers.IntegerField(
        required=False, allow_null=True, min_value=1, max_value=LONGEST_INTERVAL
    )
    at = serializers.DateTimeField(required=False, allow_null=True)
    timezone = serializers.CharField(default=KOREAN_TIME, max_length=64)
    starts_at = serializers.DateTimeField(required=False, allow_null=True)
    ends_at = serializers.DateTimeField(required=False, allow_null=True)

    def validate_cron(self, text: str | None) -> str:
        return text or ""


class PreviewSerializer(RuleSerializer):
    count = serializers.IntegerField(default=5, min_value=1, max_value=MOST_SHOWN)


class ScheduleSerializer(RuleSerializer):
    name = serializers.CharField(max_length=200)
    task_id = serializers.CharField(max_length=200)
    args = serializers.DictField(default=dict)
    enabled = serializers.BooleanField(default=True)
    overlap = serializers.ChoiceField(Overlap.choices, default=Overlap.SKIP.value)
    catch_up = serializers.ChoiceField(POLICIES, default="latest")
    max_retries = serializers.IntegerField(default=3, min_value=0, max_value=MOST_RETRIES)


class ScheduleFilter(filters.FilterSet):  # type: ignore[misc]
    task_id = filters.CharFilter()
    kind = filters.ChoiceFilter(choices=[(kind, kind) for kind in KINDS])
    enabled = filters.BooleanFilter()
    name = filters.CharFilter(lookup_expr="icontains")

    class Meta:
        model = Schedule
        fields: tuple[str, ...] = ()


class ScheduleView(GenericAPIView[Any]):
    """A view of one schedule."""

    pagination_class: Any = None
    filter_backends: Any = ()
    serializer_class: Any = ScheduleSerializer

    def schedule(self, *, acts: bool = False) -> Schedule:
        return schedule_for(user_of(self.request), self.kwargs["schedule_id"], acts=acts)


@extend_schema(tags=["schedules"])
class SchedulesView(GenericAPIView[Schedule]):
    serializer_class = ScheduleSerializer
    pagination_class = PagePagination
    filter_backends = (FilterBackend,)
    filterset_class = ScheduleFilter
    queryset = Schedule.objects.none()

    @extend_schema(operation_id="list_schedules", responses=ScheduleDocument(many=True))
    def get(self, request: Request) -> Response:
        """The caller's schedules, by name. Staff see everybody's."""
        page = self.paginate_queryset(self.filter_queryset(schedules_of(user_of(request))))
        return self.get_paginated_response([shapes.schedule(one) for one in page or ()])

    @extend_schema(operation_id="create_schedule", responses={201: ScheduleDocument})
    @idempotent
    def post(self, request: Request) -> Response:
        """Make a schedule. It counts from now on."""
        given = _read(ScheduleSerializer(data=request.data))
        made = schedules.create(given, owner=user_of(request), now=database_now())
        location = request.build_absolute_uri(f"/api/schedules/{made.id}")
        return Response(shapes.schedule(made), status=201, headers={"Location": location})


@extend_schema(tags=["schedules"])
class OneScheduleView(ScheduleView):
    @extend_schema(operation_id="show_schedule", responses=ScheduleDocument)
    def get(self, request: Request, schedule_id: UUID) -> Response:
        """One schedule."""
        return Response(shapes.schedule(self.schedule()))

    @extend_schema(operation_id="change_schedule", responses=ScheduleDocument)
    def patch(self, request: Request, schedule_id: UUID) -> Response:
        """Change some of it. A change of when counts from now; others keep the time of the next turn."""
        return self._change(_read(ScheduleSerializer(data=request.data, partial=True)))

    @extend_schema(operation_id="replace_schedule", responses=ScheduleDocument)
    def put(self, request: Request, schedule_id: UUID) -> Response:
        """Say all of it anew: what is left out has its default."""
        empty = {"cron": "", "every_seconds": None, "at": None, "starts_at": None, "ends_at": None}
        return self._change(empty | _read(ScheduleSerializer(data=request.data)))

    @extend_schema(operation_id="delete_schedule", responses={204: None})
    def delete(self, request: Request, schedule_id: UUID) -> Response:
        """Delete it. Executions that it has made go on."""
        schedules.remove(self.schedule(acts=True).id)
        return Response(status=204)

    def _change(self, given: dict[str, Any]) -> Response:
        changed = schedules.change(self.schedule(acts=True).id, given, now=database_now())
        return Response(shapes.schedule(changed))


@extend_schema(tags=["schedules"], request=None, responses=ScheduleDocument)
class PauseScheduleView(ScheduleView):
    @extend_schema(operation_id="pause_schedule")
    def post(self, request: Request, schedule_id: UUID) -> Response:
        """Hold it. What would have been due meanwhile is not made up."""
        return Response(shapes.schedule(schedules.pause(self.schedule(acts=True).id, now=database_now())))


@extend_schema(tags=["schedules"], request=None, responses=ScheduleDocument)
class ResumeScheduleView(ScheduleView):
    @extend_schema(operation_id="resume_schedule")
    def post(self, request: Request, schedule_id: UUID) -> Response:
        """Go on from now."""
        return Response(shapes.schedule(schedules.resume(self.schedule(acts=True).id, now=database_now())))


@extend_schema(tags=["schedules"])
class NextTimesView(ScheduleView):
    @extend_schema(
        operation_id="next_times",
        responses=NextDocument,
        parameters=[OpenApiParameter("count", int, description=f"How many, 1 to {MOST_SHOWN}.", default=5)],
    )
    def get(self, request: Request, schedule_id: UUID) -> Response:
        """The next times it fires; none while it is paused."""
        refuse_unknown(request, ("count",))
        count = _count(request)
        schedule = self.schedule()
        moments = rules.upcoming(schedule.rule, database_now(), count) if schedule.enabled else []
        return Response(_next(schedule.rule, moments))


@extend_schema(tags=["schedules"])
class PreviewView(GenericAPIView[Schedule]):
    pagination_class = None
    filter_backends = ()
    serializer_class = PreviewSerializer

    @extend_schema(operation_id="preview_schedule", responses=NextDocument)
    def post(self, request: Request) -> Response:
        """The next times of a rule that is not saved yet, and the rule in plain words."""
        given = _read(PreviewSerializer(data=request.data))
        now = database_now()
        rule = check_rule(given, now)
        return Response(_next(rule, rules.upcoming(rule, now, given["count"])))


class TurnFilter(filters.FilterSet):  # type: ignore[misc]
    turn = filters.ChoiceFilter(choices=Turn.choices)

    class Meta:
        model = Occurrence
        fields: tuple[str, ...] = ()


@extend_schema(tags=["schedules"])
class TurnsView(ScheduleView):
    pagination_class = RoughPagination
    filter_backends = (FilterBackend,)
    filterset_class = TurnFilter
    queryset = Occurrence.objects.none()
    serializer_class = TurnDocument

    @extend_schema(operation_id="list_turns", responses=TurnDocument(many=True))
    def get(self, request: Request, schedule_id: UUID) -> Response:
        """What became of each due time, the newest first: run, skipped or missed."""
        found = Occurrence.objects.filter(schedule=self.schedule()).order_by("-due_at")
        page = self.paginate_queryset(self.filter_queryset(found))
        return self.get_paginated_response([shapes.turn(one) for one in page or ()])


def _read(serializer: StrictSerializer) -> dict[str, Any]:
    serializer.is_valid(raise_exception=True)
    return dict(serializer.validated_data)


def _next(rule: rules.Rule, moments: list[Any]) -> dict[str, Any]:
    return {"next": [moment(one) for one in moments], "words": shapes.words_of(rule)}


def _count(request: Request) -> int:
    text = request.query_params.get("count", "5")
    if text.isascii() and text.isdecimal() and len(text) < 6 and 1 <= int(text) <= MOST_SHOWN:
        return int(text)
    sentence = f"Must be a whole number from 1 to {MOST_SHOWN}."
    raise Problem(400, "invalid", f"count: {sentence}", errors={"count": [sentence]})
