"""Offices: their names and who is notified of their failures."""

from typing import Annotated, Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from pydantic import AfterValidator, Field, WithJsonSchema
from pydantic_core import PydanticCustomError
from rest_framework.request import Request
from rest_framework.response import Response

from jobs import office_deletion, offices
from jobs.access import max_role, offices_of, role_of_staff
from jobs.api import examples
from jobs.api.framework.authentication import user_of
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.lists import ListView
from jobs.api.framework.openapi_errors import problems
from jobs.api.framework.openapi_examples import in_request, in_response
from jobs.api.framework.reading import read, read_changes
from jobs.api.views import OfficeView, created_response
from jobs.api_model import AnyOf, ApiIn, ApiOut, Omittable, Time
from jobs.field_types import Name
from jobs.models import Office
from jobs.offices import MOST_ADDRESSES
from jobs.states import MemberRole


def _email(text: str) -> str:
    try:
        validate_email(text)
    except ValidationError:
        raise PydanticCustomError("email", "Enter a valid email address.") from None
    return text


Email = Annotated[
    str, Field(min_length=1, max_length=254, json_schema_extra={"format": "email"}), AfterValidator(_email)
]


class OfficeIn(ApiIn):
    name: Name
    notify_emails: Omittable[Annotated[list[Email], Field(max_length=MOST_ADDRESSES)]] = Field(
        None, description="Addresses that receive an email when a job fails for good."
    )


@extend_schema_serializer(examples=[in_response("an office", examples.OFFICE_MADE)])
class OfficeOut(ApiOut):
    id: UUID
    name: str
    created_at: Time
    role: Annotated[str, AnyOf(MemberRole.choices)] = Field(description="The role of the caller.")
    notify_emails: list[Annotated[str, WithJsonSchema({"type": "string", "format": "email"})]] = Field(
        description="Addresses that receive an email when a job fails for good."
    )


class OfficeListView(ListView[Office]):
    @extend_schema(operation_id="list_offices", responses=list[OfficeOut])
    def get(self, request: Request) -> Response:
        """List the offices you are a member of. Staff see all of them."""
        user = user_of(request)
        staff = role_of_staff(user)
        return self.list_response(
            offices_of(user).order_by("name", "id"),
            lambda office: OfficeOut.write(office, role=role_in(office, staff)),
        )

    @extend_schema(
        operation_id="create_office",
        request=OfficeIn,
        responses={201: OfficeOut},
        examples=[in_request("an office", {"name": "Seoul studio"})],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Create an office. The caller becomes its owner."""
        office = offices.create(user_of(request), **read(OfficeIn, request.data).values())
        location = request.build_absolute_uri(f"/api/offices/{office.id}")
        return created_response(OfficeOut.write(office, role=MemberRole.OWNER), location)


def role_in(office: Any, staff: str | None) -> str:
    return max_role(office.member_role, staff) if office.member_role else staff or MemberRole.VIEWER


class OfficeDetailView(OfficeView):
    @extend_schema(operation_id="get_office", responses=OfficeOut)
    def get(self, request: Request, office_id: UUID) -> Response:
        """One office."""
        access = self.access()
        return Response(OfficeOut.write(access.office, role=access.role))

    @extend_schema(
        operation_id="change_office",
        request=OfficeIn,
        responses=OfficeOut,
        examples=[in_request("other addresses", {"notify_emails": ["ops@dure.example"]})],
    )
    def patch(self, request: Request, office_id: UUID) -> Response:
        """Change an office's name or notification addresses.

        Owners only. Its limits are at `/scheduler/config`.
        """
        access = self.access(MemberRole.OWNER)
        offices.change(access.office, read_changes(OfficeIn, request.data))
        return Response(OfficeOut.write(access.office, role=access.role))

    @extend_schema(
        operation_id="delete_office",
        responses={204: None},
        extensions=problems("jobs_processing"),
    )
    def delete(self, request: Request, office_id: UUID) -> Response:
        """Delete an office and everything in it. Owners only."""
        office_deletion.delete_office(self.access(MemberRole.OWNER).office.id)
        return Response(status=204)
