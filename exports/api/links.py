"""Links to results: make, list, revoke; and the download by a link."""

from datetime import timedelta

from django.http import Http404, HttpResponseBase
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from exports import links
from exports.api.downloads import AcceptsAnyType, download
from exports.api.examples import LINK_EXAMPLE
from exports.api.exports import FILE_HEADERS, FILE_RESPONSES, own_job
from exports.schemas import ExportLinkOut, ExportLinksOut, NewLink
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_errors import problems
from jobs.api.framework.openapi_examples import in_request, in_response
from jobs.api.framework.problem_details import Problem
from jobs.api.framework.reading import read


class LinksView(APIView):
    @extend_schema(
        operation_id="list_export_links",
        responses={200: ExportLinksOut},
        examples=[in_response("one link", {"content": [LINK_EXAMPLE]})],
    )
    def get(self, request: Request, job_id: int) -> Response:
        """List the links of one of your exports that have not expired."""
        rows = links.live(own_job(request, job_id), timezone.now())
        content = [ExportLinkOut.of(row, url=links.url_of(row)) for row in rows]
        return Response(ExportLinksOut.write({"content": content}))

    @extend_schema(
        operation_id="share_export",
        request=NewLink,
        responses={201: ExportLinkOut},
        examples=[in_request("for a day", {"expiresInSeconds": 86_400})],
        extensions=problems("no_file_to_share", "too_many_links"),
    )
    @idempotent
    def post(self, request: Request, job_id: int) -> Response:
        """Make a link with which anyone can download the result of one of your exports."""
        seconds = read(NewLink, request.data).expires_in_seconds
        job = own_job(request, job_id)
        age = links.DEFAULT_AGE if seconds is None else timedelta(seconds=seconds)
        link = links.create(job, age, timezone.now())
        location = request.build_absolute_uri(f"/api/jobs/{job.pk}/links/{link.pk}")
        body = ExportLinkOut.write(link, url=links.url_of(link))
        return Response(body, status=201, headers={"Location": location})


class LinkView(APIView):
    @extend_schema(operation_id="revoke_export_link", responses={204: None})
    def delete(self, request: Request, job_id: int, link_id: int) -> Response:
        """Revoke a link. It ends at once."""
        if not links.revoke(own_job(request, job_id), link_id):
            raise Http404
        return Response(status=204)


class SharedView(APIView):
    """For everybody who has the link: no other credentials are read."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    content_negotiation_class = AcceptsAnyType

    @extend_schema(
        operation_id="download_shared_export",
        parameters=FILE_HEADERS,
        responses=FILE_RESPONSES,
        extensions=problems(
            *("link_not_valid", "link_expired", "outside_export_root", "file_gone", "not_succeeded"),
            "range_not_satisfiable",
        ),
    )
    def get(self, request: Request, job_id: int, token: str) -> HttpResponseBase:
        """Download a result by its link, or a range of it. The link is the only credential."""
        try:
            job = links.open_shared(job_id, token, timezone.now())
        except links.NotValid:
            sentence = "This link is not valid: it is incomplete or altered, or it was revoked."
            raise Problem(404, "link_not_valid", sentence) from None
        except links.Expired:
            sentence = "This link has expired. Ask for a new one."
            raise Problem(410, "link_expired", sentence) from None
        return download(request, job)

    @extend_schema(exclude=True)
    def head(self, request: Request, job_id: int, token: str) -> HttpResponseBase:
        return self.get(request, job_id, token)
