"""POST /api/ws-ticket."""

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from jobs.api.framework.authentication import user_of
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.openapi_examples import in_response
from jobs.api_model import ApiOut
from jobs.models.access import ApiToken
from jobs.sockets.credentials import TICKET_LIFETIME, issue_ticket

EXAMPLE = {"ticket": "wnT3mQ0pZ5cN1yqkYw2uH8vJx4dRb6sLfA7eGt9oKiM", "expires_in": 30}


class TicketOut(ApiOut):
    ticket: str = Field(description="Open the socket with `?ticket=` and this.")
    expires_in: int = Field(description="Seconds.")


class TicketView(APIView):
    @extend_schema(
        operation_id="create_ws_ticket",
        responses={201: TicketOut},
        examples=[in_response("a ticket", EXAMPLE)],
    )
    @idempotent
    def post(self, request: Request) -> Response:
        """Get a ticket that opens one socket, within 30 seconds.

        For a page that can send neither our cookie nor a header: open the socket with `?ticket=` and this.
        """
        token = request.auth if isinstance(request.auth, ApiToken) else None
        session = "" if token else request._request.session.session_key or ""
        ticket = issue_ticket(user_of(request), timezone.now(), token=token, session=session)
        answer = TicketOut(ticket=ticket, expires_in=int(TICKET_LIFETIME.total_seconds()))
        return Response(answer.dump(), status=201)
