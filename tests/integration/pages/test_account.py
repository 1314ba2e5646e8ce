"""The page of one's own account: the password, and API tokens that are shown once."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone

from jobs.models import ApiToken
from tests.integration.pages.clients import field_error, sign_in, signed_in, text_of
from tests.integration.rest_support import make_user

pytestmark = pytest.mark.django_db

OLD, NEW = "correct horse", "battery staple 2"


@pytest.fixture
def nora() -> User:
    return make_user("nora")


def passwords(**change: str) -> dict[str, str]:
    return {"old_password": OLD, "new_password1": NEW, "new_password2": NEW, **change}


def bearer(token: str) -> Client:
    return Client(headers={"Authorization": f"Token {token}"})


def test_a_user_who_is_not_staff_changes_the_password(nora):
    client, elsewhere = signed_in(nora), signed_in(nora)
    assert client.post("/account/password", passwords())["Location"] == "/account"
    assert User.objects.get(pk=nora.pk).check_password(NEW)
    assert client.get("/account").status_code == 200
    assert elsewhere.get("/account").status_code == 302


@pytest.mark.parametrize(
    ("change", "field", "english", "korean"),
    [
        ({"old_password": "wrong"}, "old_password", "entered incorrectly", "비밀번호"),
        ({"new_password2": "other one 3"}, "new_password2", "match", "일치하지"),
        ({"new_password1": "short", "new_password2": "short"}, "new_password2", "too short", "짧"),
        (
            {"new_password1": "password", "new_password2": "password"},
            "new_password2",
            "too common",
            "너무 흔히",
        ),
    ],
)
def test_an_invalid_password_is_refused_at_its_field(nora, change, field, english, korean):
    for language, expected in (("en", english), ("ko", korean)):
        answer = signed_in(nora, language).post("/account/password", passwords(**change))
        assert answer.status_code == 400
        assert expected in field_error(answer, field)
    assert User.objects.get(pk=nora.pk).check_password(OLD)


def test_guesses_of_the_old_password_are_throttled(nora, settings):
    rates = {**settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"], "login": "2/min"}
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "DEFAULT_THROTTLE_RATES": rates}
    client, wrong = signed_in(nora), passwords(old_password="wrong")
    assert [client.post("/account/password", wrong).status_code for _ in range(2)] == [400, 400]
    assert client.post("/account/password", passwords()).status_code == 429
    assert User.objects.get(pk=nora.pk).check_password(OLD)


def test_a_token_is_shown_once_works_and_is_revoked(nora):
    client = signed_in(nora)
    answer = client.post("/account/tokens", {"name": "nightly", "days": "30"})
    assert "no-store" in answer["Cache-Control"]
    plain = re.search(r"<code>(dure_[\w-]{40,})</code>", text_of(answer))
    assert plain is not None
    assert bearer(plain[1]).get("/api/offices").status_code == 200
    row = ApiToken.objects.get()
    assert row.user == nora
    assert row.expires_at is not None
    assert abs(row.expires_at - timezone.now() - timedelta(days=30)) < timedelta(minutes=5)
    page = text_of(client.get("/account"))
    assert plain[1] not in page
    assert f"{row.prefix}…" in page
    client.post(f"/account/tokens/{row.pk}/revoke")
    assert bearer(plain[1]).get("/api/offices").status_code == 401
    assert "/revoke" not in text_of(client.get("/account"))


def test_an_invalid_token_is_refused_and_without_days_it_never_expires(nora):
    client = signed_in(nora)
    for change, field in (({"name": ""}, "name"), ({"days": "0"}, "days"), ({"days": "36501"}, "days")):
        answer = client.post("/account/tokens", {"name": "x", **change})
        assert answer.status_code == 400
        assert field_error(answer, field)
    assert not ApiToken.objects.exists()
    client.post("/account/tokens", {"name": "x", "days": ""})
    assert ApiToken.objects.get().expires_at is None


def test_nobody_sees_the_token_of_another_user(nora):
    ApiToken.issue(nora, "secret name", timezone.now())
    assert "secret name" not in text_of(sign_in("mallory").get("/account"))
