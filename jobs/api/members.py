"""The members of an office, for its owners."""

from typing import Annotated
from uuid import UUID

from drf_spectacular.utils import OpenApiExample, extend_schema
from pydantic import AliasPath, Field
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import members
from jobs.api import examples
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.lists import ListView
from jobs.api.framework.openapi_errors import problems
from jobs.api.framework.problem_details import Problem
from jobs.api.framework.reading import read
from jobs.api.views import OWNER, OfficeView
from jobs.api_model import AnyOf, ApiIn, ApiOut, OneOf
from jobs.models import Membership
from jobs.states import MemberRole


class MemberIn(ApiIn):
    username: Annotated[str, Field(min_length=1, max_length=150)]
    role: Annotated[str, OneOf(MemberRole.choices)]


class MemberOut(ApiOut):
    username: Annotated[str, Field(max_length=150)] = Field(validation_alias=AliasPath("user", "username"))
    role: Annotated[str, AnyOf(MemberRole.choices)]


class MemberListView(OfficeView, ListView[Membership]):
    @extend_schema(
        operation_id="list_members",
        responses=list[MemberOut],
        examples=[OpenApiExample("an operator", examples.MEMBER)],
    )
    def get(self, request: Request, office_id: UUID) -> Response:
        """List an office's members. Owners only."""
        rows = self.office(OWNER).memberships.select_related("user").order_by("user__username")
        return self.list_response(rows, MemberOut.write)

    @extend_schema(
        operation_id="set_member",
        request=MemberIn,
        responses={201: MemberOut, 200: MemberOut},
        examples=[OpenApiExample("an operator", examples.MEMBER)],
        extensions=problems("last_owner"),
    )
    @idempotent
    def post(self, request: Request, office_id: UUID) -> Response:
        """Add a member, or change a member's role. Owners only."""
        office = self.office(OWNER)
        data = read(MemberIn, request.data)
        member, is_new = members.set_role(office, data.username, data.role)
        location = request.build_absolute_uri(f"{request.path}/{data.username}")
        return Response(
            MemberOut.write(member), status=201 if is_new else 200, headers={"Location": location}
        )


class MemberDetailView(OfficeView):
    @extend_schema(operation_id="remove_member", responses={204: None}, extensions=problems("last_owner"))
    def delete(self, request: Request, office_id: UUID, username: str) -> Response:
        """Remove a member. Owners only."""
        office = self.office(OWNER)
        if not members.remove(office, username):
            raise Problem(404, "not_found", "There is no such member in this office.")
        return Response(status=204)
