"""The members of an office, for its owners."""

from uuid import UUID

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import members
from jobs.api import examples
from jobs.api.framework.filtering import FilterBackend
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_errors import problems
from jobs.api.framework.pagination import PagePagination
from jobs.api.framework.problem_details import Problem
from jobs.api.framework.serializers import StrictSerializer, validated
from jobs.api.views import CONFIGURES, OfficeView
from jobs.models import Membership
from jobs.states import MemberRole


class MemberSerializer(StrictSerializer):
    username = serializers.CharField(max_length=150)
    role = serializers.ChoiceField(MemberRole.choices)


def member_json(member: Membership) -> dict[str, str]:
    return {"username": member.user.get_username(), "role": member.role}


class MemberListView(OfficeView):
    """The members and their roles."""

    queryset = Membership.objects.none()
    pagination_class = PagePagination
    filter_backends = (FilterBackend,)

    @extend_schema(
        operation_id="list_members",
        tags=["offices"],
        summary="List an office's members",
        description="Owners only.",
        responses=MemberSerializer(many=True),
        examples=[OpenApiExample("an operator", examples.MEMBER)],
    )
    def get(self, request: Request, office_id: UUID) -> Response:
        rows = self.office(CONFIGURES).memberships.select_related("user").order_by("user__username")
        page = self.paginate_queryset(self.filter_queryset(rows)) or []
        return self.get_paginated_response([member_json(member) for member in page])

    @extend_schema(
        operation_id="set_member",
        tags=["offices"],
        summary="Add a member, or change a member's role",
        description="Owners only.",
        request=MemberSerializer,
        responses={201: MemberSerializer, 200: MemberSerializer},
        examples=[OpenApiExample("an operator", examples.MEMBER)],
        extensions=problems("last_owner"),
    )
    @idempotent
    def post(self, request: Request, office_id: UUID) -> Response:
        office = self.office(CONFIGURES)
        data = validated(MemberSerializer(data=request.data))
        member, is_new = members.set_role(office, data["username"], data["role"], actor=self.actor())
        location = request.build_absolute_uri(f"{request.path}/{data['username']}")
        return Response(member_json(member), status=201 if is_new else 200, headers={"Location": location})


class MemberDetailView(OfficeView):
    """One member."""

    @extend_schema(
        operation_id="remove_member",
        tags=["offices"],
        summary="Remove a member",
        description="Owners only.",
        responses={204: None},
        extensions=problems("last_owner"),
    )
    def delete(self, request: Request, office_id: UUID, username: str) -> Response:
        office = self.office(CONFIGURES)
        if not members.remove(office, username, actor=self.actor()):
            raise Problem(404, "not_found", "There is no such member in this office.")
        return Response(status=204)
