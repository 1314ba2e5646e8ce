"""Dead letters, for staff: list, show, republish, discard."""

from typing import Any

from django.http import Http404
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import IsAdminUser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from exports import deadletters
from exports.api.examples import DEAD_LETTER_EXAMPLE, page_example
from exports.api.pages import PAGING, page_of
from exports.messages import INPUTS
from exports.models import DeadLetter
from exports.schemas import DeadLetterOut, DeadLetterPage
from jobs.api.framework.authentication import user_of
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_errors import problems
from jobs.api.framework.openapi_examples import in_response
from jobs.api.framework.query import OneOf

STATE = OneOf("state", "Only those in this state.", DeadLetter.State.values)
STREAM = OneOf("sourceStream", "Only those from this stream.", INPUTS)


class _StaffView(APIView):
    permission_classes = (IsAdminUser,)


class DeadLettersView(_StaffView):
    @extend_schema(
        operation_id="list_dead_letters",
        parameters=[STATE.openapi, STREAM.openapi, *PAGING],
        responses={200: DeadLetterPage},
        examples=[in_response("one letter", page_example(DEAD_LETTER_EXAMPLE))],
    )
    def get(self, request: Request) -> Response:
        """List the messages of the streams that could not be parsed or applied, newest first."""
        rows = DeadLetter.objects.select_related("handled_by")
        return page_of(request, rows, DeadLetterPage, DeadLetterOut.of, state=STATE, source_stream=STREAM)


class DeadLetterView(_StaffView):
    @extend_schema(operation_id="get_dead_letter", responses={200: DeadLetterOut})
    def get(self, request: Request, letter_id: int) -> Response:
        """Get a dead letter."""
        letters = DeadLetter.objects.select_related("handled_by")
        return Response(DeadLetterOut.write(get_object_or_404(letters, pk=letter_id)))


class _HandleView(_StaffView):
    def handle(self, request: Request, letter_id: int, verb: Any) -> Response:
        try:
            return Response(DeadLetterOut.write(verb(letter_id, user_of(request), timezone.now())))
        except DeadLetter.DoesNotExist:
            raise Http404 from None


class RepublishView(_HandleView):
    @extend_schema(
        operation_id="republish_dead_letter",
        responses=DeadLetterOut,
        extensions=problems("not_whole", "already_handled"),
    )
    @idempotent
    def post(self, request: Request, letter_id: int) -> Response:
        """Send a dead letter to its stream again, unchanged."""
        return self.handle(request, letter_id, deadletters.republish)


class DiscardView(_HandleView):
    @extend_schema(
        operation_id="discard_dead_letter",
        responses=DeadLetterOut,
        extensions=problems("already_handled"),
    )
    @idempotent
    def post(self, request: Request, letter_id: int) -> Response:
        """Discard a dead letter."""
        return self.handle(request, letter_id, deadletters.discard)
