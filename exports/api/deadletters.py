"""Dead letters, for staff: looked at, sent again, discarded."""

from typing import Any

from django.contrib.auth.models import User
from django.http import Http404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework.permissions import IsAdminUser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from exports import deadletters
from exports.api import examples, shapes
from exports.api.paging import PAGING, page_of
from exports.messages import PROGRESS, REQUESTS, RESULTS
from exports.models import DeadLetter
from jobs.api.framework.authentication import user_of
from jobs.api.framework.filtering import refuse_unknown
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_errors import problems
from jobs.api.framework.openapi_examples import in_response
from jobs.api.framework.query import OneOf

STATE = OneOf("state", "Only those that this became of.", DeadLetter.State.values)
STREAM = OneOf("sourceStream", "Only those that came from this stream.", (REQUESTS, PROGRESS, RESULTS))


class _Staff(APIView):
    permission_classes = (IsAdminUser,)


@extend_schema(tags=["dead letters"])
class DeadLettersView(_Staff):
    @extend_schema(
        operation_id="list_dead_letters",
        parameters=[STATE.described, STREAM.described, *PAGING],
        responses={200: shapes.page_document("DeadLetterPage", shapes.DeadLetterDocument)},
        examples=[in_response("one letter", examples.page(examples.DEAD_LETTER))],
    )
    def get(self, request: Request) -> Response:
        """List the messages of the streams that could not be understood or applied, newest first."""
        refuse_unknown(request, ("state", "sourceStream", "page", "size"))
        rows = DeadLetter.objects.select_related("handled_by").order_by("-id")
        if state := STATE.of(request):
            rows = rows.filter(state=state)
        if stream := STREAM.of(request):
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
        responses=shapes.DeadLetterDocument,
        extensions=problems("not_whole", "already_handled"),
    )
    @idempotent
    def post(self, request: Request, letter_id: int) -> Response:
        """Send a dead letter to its stream again, as it was."""
        return self.handle(request, letter_id, deadletters.republish)


@extend_schema(tags=["dead letters"])
class DiscardView(_Handle):
    @extend_schema(
        operation_id="discard_dead_letter",
        request=None,
        responses=shapes.DeadLetterDocument,
        extensions=problems("already_handled"),
    )
    @idempotent
    def post(self, request: Request, letter_id: int) -> Response:
        """Discard a dead letter."""
        return self.handle(request, letter_id, deadletters.discard)
