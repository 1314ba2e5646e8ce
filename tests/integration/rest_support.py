"""Helpers of the tests of the REST framework: users with tokens, and an urlconf of small views."""

from typing import Annotated, Any

from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.models import Group, User
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from django.utils import timezone
from pydantic import Field
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from config.urls import handler400, handler403, handler404, handler500
from config.urls import urlpatterns as real_urlpatterns
from jobs.api.framework.filtering import reject_unknown
from jobs.api.framework.idempotency import idempotent
from jobs.api.framework.pagination import RoughPagination
from jobs.api.framework.reading import read
from jobs.api.framework.throttling import KEY_PREFIX, counter
from jobs.api_model import ApiIn, ApiOut
from jobs.models.access import ApiToken

__all__ = ["handler400", "handler403", "handler404", "handler500"]

PROBLEM = "application/problem+json"


def make_user(name: str = "alice", **more: Any) -> User:
    return User.objects.create_user(name, password="correct horse", **more)


def client_of(user: User, name: str = "test") -> Client:
    _, plain = ApiToken.issue(user, name, timezone.now())
    return Client(headers={"Authorization": f"Token {plain}"}, raise_request_exception=False)


def forget_counts() -> None:
    redis = counter().redis
    for key in redis.scan_iter(KEY_PREFIX + "*"):
        redis.delete(key)


class GroupIn(ApiIn):
    name: Annotated[str, Field(min_length=1, max_length=150)]


class GroupOut(ApiOut):
    id: int
    name: str


class Groups(GenericAPIView[Group]):
    queryset = Group.objects.order_by("id")
    filterset_fields = ["name"]

    def get(self, request: Request) -> Response:
        page = self.paginate_queryset(self.filter_queryset(self.get_queryset())) or []
        return self.get_paginated_response([GroupOut.write(group) for group in page])

    @idempotent
    def post(self, request: Request) -> Response:
        name = read(GroupIn, request.data).name
        if Group.objects.filter(name=name).exists():
            raise ValidationError({"name": ["There is such a group already."]})
        group = Group.objects.create(name=name)
        if group.name == "refused":
            return Response({"detail": "no"}, status=409)
        if group.name == "boom":
            raise ZeroDivisionError
        return Response(GroupOut.write(group), status=201, headers={"Location": f"/api/groups/{group.pk}"})


class RoughGroups(Groups):
    pagination_class = RoughPagination


class Echo(APIView):
    def get(self, request: Request) -> Response:
        reject_unknown(request, ("after",))
        return Response({"after": request.query_params.get("after")})

    def post(self, request: Request) -> Response:
        return Response({"got": request.data})


class Forbidden(APIView):
    def get(self, request: Request) -> Response:
        raise PermissionDenied("Only admins of the office may.")


class Open(APIView):
    permission_classes = [AllowAny]

    def get(self, request: Request) -> Response:
        return Response({})


def boom(request: HttpRequest) -> HttpResponse:
    raise ZeroDivisionError("secret detail")


class Boom(APIView):
    def get(self, request: Request) -> Response:
        raise ZeroDivisionError("secret detail")


urlpatterns = [
    *real_urlpatterns,
    path("api/groups", Groups.as_view()),
    path("api/rough-groups", RoughGroups.as_view()),
    path("api/echo", Echo.as_view()),
    path("api/forbidden", Forbidden.as_view()),
    path("api/open", Open.as_view()),
    path("api/boom", Boom.as_view()),
    path("api/plain-boom", login_not_required(boom)),
    path("page-boom", boom),
]
