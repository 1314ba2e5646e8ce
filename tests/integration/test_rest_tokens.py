"""Tokens authenticate exactly the permitted users, and are never stored or logged."""

import logging
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from config.logs import LineFormatter
from jobs.api.framework.authentication import find_token
from jobs.models.access import ApiToken
from tests.integration.commands import run
from tests.integration.rest_support import make_user

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.urls("tests.integration.rest_support"),
    pytest.mark.usefixtures("fresh_counts"),
]


@pytest.fixture
def user():
    return make_user()


def ask(header: str):
    return Client(raise_request_exception=False).get("/api/echo", headers={"Authorization": header})


def command(*arguments: str) -> str:
    return run("token", *arguments).out.strip()


def test_a_token_authenticates_its_user(user):
    _, plain = ApiToken.issue(user, "laptop", timezone.now())
    assert plain.startswith("dure_")
    assert ask(f"Token {plain}").status_code == 200
    assert ask(f"token   {plain} ").status_code == 200


def test_only_the_digest_of_a_token_is_stored(user):
    row, plain = ApiToken.issue(user, "laptop", timezone.now())
    kept = " ".join(str(value) for value in ApiToken.objects.values().get(pk=row.pk).values())
    assert plain not in kept
    assert plain.removeprefix("dure_") not in kept
    assert plain.startswith(row.prefix)
    assert len(row.prefix) < 16


@pytest.mark.parametrize(
    "header",
    [
        "Token",
        "Token ",
        "Token x",
        "Token dure_" + "x" * 43,
        "Token dure_" + "x" * 65_000,
        "Token dure_\udcff".encode("utf-8", "replace").decode(),
        "Token {plain}x",
        "Token {plain}, Token {plain}",
        "Token {plain} extra",
        "Token {upper}",
    ],
)
def test_an_invalid_token_is_401(user, header):
    _, plain = ApiToken.issue(user, "laptop", timezone.now())
    response = ask(header.format(plain=plain, upper=plain.upper()))
    assert response.status_code == 401
    assert response.json()["code"] == "authentication_failed"
    assert response["WWW-Authenticate"] == 'Token realm="api"'


def test_an_unknown_authentication_scheme_is_ignored(user):
    _, plain = ApiToken.issue(user, "laptop", timezone.now())
    for header in (f"Bearer {plain}", f"Basic {plain}", plain):
        assert ask(header).json()["code"] == "not_authenticated"


def test_an_expired_or_revoked_token_and_an_inactive_user_are_refused_alike(user):
    now = timezone.now()
    _, first = ApiToken.issue(user, "a", now, expires_at=now)
    revoked, second = ApiToken.issue(user, "b", now)
    ApiToken.objects.filter(pk=revoked.pk).update(revoked_at=now)
    _, third = ApiToken.issue(make_user("gone", is_active=False), "c", now)
    answers = {ask(f"Token {plain}").content for plain in (first, second, third, "dure_" + "x" * 43)}
    assert len(answers) == 1


def test_the_use_of_a_token_is_recorded_at_most_once_a_minute(user, django_assert_num_queries):
    start = timezone.now()
    row, plain = ApiToken.issue(user, "laptop", start)

    def used_at(now):
        assert find_token(plain, now)
        return ApiToken.objects.get(pk=row.pk).last_used_at

    assert used_at(start) == start
    assert used_at(start + timedelta(seconds=59)) == start
    assert used_at(start + timedelta(seconds=60)) == start + timedelta(seconds=60)
    with django_assert_num_queries(1):
        find_token(plain, start + timedelta(seconds=61))


def test_a_malformed_token_is_rejected_without_a_query(django_assert_num_queries):
    with django_assert_num_queries(0):
        assert find_token("dure_short", timezone.now()) is None


def test_the_token_command_issues_lists_and_revokes(user):
    plain = command("alice", "--name", "ci", "--days", "7")
    assert ask(f"Token {plain}").status_code == 200
    listed = command("alice", "--list")
    assert "ci" in listed
    assert "active" in listed
    assert plain not in listed
    assert command("alice", "--revoke", plain[:11]) == "revoked"
    assert ask(f"Token {plain}").status_code == 401
    assert "inactive" in command("alice", "--list")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nobody"], "no user 'nobody'"),
        (["alice", "--days", "0"], "--days"),
        (["alice", "--name", ""], "--name"),
        (["alice", "--revoke", "dure_zzz"], "0 active tokens"),
    ],
)
def test_the_token_command_reports_errors(user, arguments, sentence):
    assert sentence in run("token", *arguments).err


def test_a_token_is_not_logged(user, caplog):
    _, plain = ApiToken.issue(user, "laptop", timezone.now())
    formatter = LineFormatter("%(message)s")
    with caplog.at_level(logging.DEBUG):
        headers = {"Authorization": f"Token {plain}"}
        client = Client(headers=headers, raise_request_exception=False)
        client.get("/api/echo")
        client.get("/api/boom")
        client.get(f"/api/nothing?token={plain}")
        logging.getLogger("x").error("headers were %s", headers)
    assert caplog.records
    assert all(plain not in formatter.format(record) for record in caplog.records)
