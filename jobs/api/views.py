"""What the views of an office share: its access, its job, and answers that name an address."""

from typing import Any, TypeVar
from uuid import UUID

from django.db.models import Model, QuerySet
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs import serialize
from jobs.access import Access, require_access
from jobs.api.framework.authentication import user_of
from jobs.api.framework.problem_details import Problem
from jobs.models import Job, Office
from jobs.states import MemberRole

M = TypeVar("M", bound=Model)

OPERATOR = MemberRole.OPERATOR
OWNER = MemberRole.OWNER


class OfficeView(APIView):
    """A view below /api/offices/:id."""

    def access(self, role: str = MemberRole.VIEWER) -> Access:
        """To the office in the URL, if the caller is a member (404) with this role (403)."""
        return require_access(user_of(self.request), self.kwargs["office_id"], role)

    def office(self, role: str = MemberRole.VIEWER) -> Office:
        return self.access(role).office

    def actor(self) -> str:
        return user_of(self.request).get_username()


class JobView(OfficeView):
    """A view of one job."""

    def job(self, office: Office) -> Job:
        jobs = serialize.with_job_fields(office.jobs.all())
        return get_or_404(jobs, self.kwargs["job_id"], "job in this office")


def get_or_404(rows: QuerySet[M], key: object, kind: str) -> M:
    """The row with this key, or a 404 that says what there is none of."""
    row = rows.filter(pk=key).first()
    if row is None:
        raise Problem(404, "not_found", f"There is no such {kind}.")
    return row


def job_address(request: Request, office_id: UUID, job_id: UUID) -> str:
    return request.build_absolute_uri(f"/api/offices/{office_id}/jobs/{job_id}")


def batch_address(request: Request, office_id: UUID, batch_id: UUID) -> str:
    return request.build_absolute_uri(f"/api/offices/{office_id}/batches/{batch_id}")


def created_response(data: Any, location: str) -> Response:
    """201 with the URL of the new object."""
    return Response(data, status=201, headers={"Location": location})


def accepted_response(data: Any, location: str) -> Response:
    """202 with the URL of the object."""
    return Response(data, status=202, headers={"Location": location})
