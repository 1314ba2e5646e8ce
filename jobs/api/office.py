"""Offices and their members."""

from typing import Any
from uuid import UUID

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.generics import GenericAPIView
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import office_deletion, serialize
from jobs.access import Seat, enter, higher, offices_of, role_of_staff
from jobs.api import documents
from jobs.api.framework.authentication import user_of
from jobs.api.framework.filtering import FilterBackend
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_errors import refuses
from jobs.api.framework.openapi_examples import asked
from jobs.api.framework.pagination import PagePagination
from jobs.api.framework.serializers import StrictModelSerializer
from jobs.api.views import OfficeView
from jobs.models import Membership, Office
from jobs.notifications import creation
from jobs.states import MemberRole

MOST_ADDRESSES = 20


class OfficeSerializer(StrictModelSerializer):
    name = serializers.CharField(max_length=200)
    notify_emails = serializers.ListField(
        child=serializers.EmailField(max_length=254),
        max_length=MOST_ADDRESSES,
        required=False,
        help_text="Told by mail when a job has failed for good.",
    )

    class Meta:
        model = Office
        fields = ("name", "notify_emails")


def office_json(office: Office, role: str) -> serialize.JSON:
    return {
        "id": str(office.id),
        "name": office.name,
        "created_at": serialize.iso_time(office.created_at),
        "role": role,
        "notify_emails": office.notify_emails,
    }


class OfficeListView(GenericAPIView[Office]):
    """The offices that the caller may see."""

    queryset = Office.objects.none()
    pagination_class = PagePagination
    filter_backends = (FilterBackend,)

    @extend_schema(
        operation_id="list_offices",
        tags=["offices"],
        summary="List the offices you are a member of",
        description="Staff see all of them.",
        responses=documents.OfficeDocument(many=True),
    )
    def get(self, request: Request) -> Response:
        user = user_of(request)
        staff = role_of_staff(user)
        page = self.paginate_queryset(self.filter_queryset(offices_of(user).order_by("name", "id"))) or []
        return self.get_paginated_response([office_json(office, role_in(office, staff)) for office in page])

    @extend_schema(
        operation_id="create_office",
        tags=["offices"],
        summary="Open an office",
        description="Whoever opens it owns it.",
        request=OfficeSerializer,
        responses={201: documents.OfficeDocument},
        examples=[asked("an office", {"name": "Seoul studio"})],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        serializer = OfficeSerializer(data=request.data)
        serializer.is_valid(raise_exception=True)
        with transaction.atomic():
            office = serializer.save()
            Membership.objects.create(office=office, user=user_of(request), role=MemberRole.OWNER)
        location = request.build_absolute_uri(f"/api/offices/{office.id}")
        return Response(office_json(office, MemberRole.OWNER), status=201, headers={"Location": location})


def role_in(office: Any, staff: str | None) -> str:
    return higher(office.member_role, staff) if office.member_role else staff or MemberRole.VIEWER


class OfficeDetailView(OfficeView):
    """One office."""

    def seat(self, needed: str = MemberRole.VIEWER) -> Seat:
        return enter(user_of(self.request), self.kwargs["office_id"], needed)

    @extend_schema(
        operation_id="get_office", tags=["offices"], summary="One office", responses=documents.OfficeDocument
    )
    def get(self, request: Request, office_id: UUID) -> Response:
        seat = self.seat()
        return Response(office_json(seat.office, seat.role))

    @extend_schema(
        operation_id="change_office",
        tags=["offices"],
        summary="Rename an office, or change who is told of failures",
        description="Owners only. Its limits are at `/scheduler/config`.",
        request=OfficeSerializer(partial=True),
        responses=documents.OfficeDocument,
        examples=[asked("who is told", {"notify_emails": ["ops@dure.example"]})],
    )
    def patch(self, request: Request, office_id: UUID) -> Response:
        seat = self.seat(MemberRole.OWNER)
        serializer = OfficeSerializer(seat.office, data=request.data, partial=True)
        serializer.is_valid(raise_exception=True)
        # Only what was given: the office's other columns are the engine's and the config's.
        for name, value in serializer.validated_data.items():
            setattr(seat.office, name, value)
        # Whoever is to be told from now on is not told of the past.
        with creation.events_drained(seat.office.pk):
            seat.office.save(update_fields=list(serializer.validated_data))
        return Response(office_json(seat.office, seat.role))

    @extend_schema(
        operation_id="delete_office",
        tags=["offices"],
        summary="Close an office, with everything in it",
        description="Owners only.",
        responses={204: None},
        extensions=refuses("jobs_processing"),
    )
    def delete(self, request: Request, office_id: UUID) -> Response:
        office_deletion.close(self.seat(MemberRole.OWNER).office.id)
        return Response(status=204)
