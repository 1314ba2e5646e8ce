"""Dead letters, for staff: looked at, sent again, discarded."""

from typing import Any

from django.contrib.auth.models import User
from django.http import Http404
from django.utils import timezone
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.permissions import IsAdminUser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from exports import deadletters
from exports.api import shapes
from exports.api.jobs import PAGING
from exports.api.paging import choice, page_of
from exports.messages import PROGRESS, REQUESTS, RESULTS
from exports.models import DeadLetter
from jobs.rest.authentication import user_of
from jobs.rest.filtering import refuse_unknown
from jobs.rest.idempotency import idempotent

STREAMS = [REQUESTS, PROGRESS, RESULTS]


class _Staff(APIView):
    permission_classes = (IsAdminUser,)


@extend_schema(tags=["dead letters"])
class DeadLettersView(_Staff):
    @extend_schema(
        operation_id="list_dead_letters",
        parameters=[
            OpenApiParameter("state", enum=DeadLetter.State.values),
            OpenApiParameter("sourceStream", enum=STREAMS),
            *PAGING,
        ],
        responses={200: shapes.page_document("DeadLetterPage", shapes.DeadLetterDocument)},
    )
    def get(self, request: Request) -> Response:
        """Messages of the streams that could not be understood or applied, newest first."""
        refuse_unknown(request, ("state", "sourceStream", "page", "size"))
        rows = DeadLetter.objects.select_related("handled_by").order_by("-id")
        if state := choice(request, "state", DeadLetter.State.values):
            rows = rows.filter(state=state)
        if stream := choice(request, "sourceStream", STREAMS):
            rows = rows.filter(source_stream=stream)
        return page_of(request, rows, shapes.dead_letter)


@extend_schema(tags=["dead letters"])
class DeadLetterView(_Staff):
    @extend_schema(operation_id="get_dead_letter", responses={200: shapes.DeadLetterDocument})
    def get(self, request: Request, letter_id: int) -> Response:
        """One dead letter."""
        found = DeadLetter.objects.select_related("handled_by").filter(pk=letter_id).first()
        if found is None:
            raise Http404
        return Response(shapes.dead_letter(found))


class _Handle(_Staff):
    def handle(self, request: Request, letter_id: int, verb: Any) -> Response:
        user: User = user_of(request)
        try:
            return Response(shapes.dead_letter(verb(letter_id, user, timezone.now())))
        except DeadLetter.DoesNotExist:
            raise Http404 from None


@extend_schema(tags=["dead letters"])
class RepublishView(_Handle):
    @extend_schema(
        operation_id="republish_dead_letter",
        request=None,
        responses={200: shapes.DeadLetterDocument, 409: OpenApiTypes.OBJECT},
    )
    @idempotent
    def post(self, request: Request, letter_id: int) -> Response:
        """Send it to its stream again, as it was; 409 when it was cut, or handled already."""
        return self.handle(request, letter_id, deadletters.republish)


@extend_schema(tags=["dead letters"])
class DiscardView(_Handle):
    @extend_schema(
        operation_id="discard_dead_letter",
        request=None,
        responses={200: shapes.DeadLetterDocument, 409: OpenApiTypes.OBJECT},
    )
    @idempotent
    def post(self, request: Request, letter_id: int) -> Response:
        """Put it aside for good; 409 when it was handled already."""
        return self.handle(request, letter_id, deadletters.discard)
