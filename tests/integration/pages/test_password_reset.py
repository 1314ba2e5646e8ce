"""A new password by a link that is sent by mail."""

import re
from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.tokens import PasswordResetTokenGenerator
from django.test import Client

from jobs import passwords, publish
from jobs.states import Act
from tests.integration.pages.clients import field_error, text_of
from tests.integration.rest_support import forget_counts, make_user

pytestmark = pytest.mark.django_db
OLD, NEW = "correct horse", "battery staple 2"
NEXT = {"new_password1": NEW, "new_password2": NEW}


@pytest.fixture(autouse=True)
def mail(settings):
    settings.DURE_MAIL_IS_SET = True


@pytest.fixture
def sent(monkeypatch):
    """The messages to workers, which are processed at once."""
    messages = []

    def process(name: str, *args, **_options) -> bool:
        messages.append(args)
        passwords.send_reset(*args)
        return True

    monkeypatch.setattr(publish, "send_control", process)
    return messages


@pytest.fixture
def nora() -> User:
    return make_user("nora", email="nora@example.com")


@pytest.fixture
def client() -> Client:
    return Client(headers={"Accept-Language": "en"})


def ask(client: Client, email: str = "nora@example.com", **more):
    return client.post("/password/reset", {"email": email}, **more)


def link_in(mail) -> str:
    """The path of the link in a mail."""
    return re.search(r"https?://[^/\s]+(/password/new/\S+)", mail.body)[1]


def test_a_user_chooses_a_new_password_by_the_link_and_it_works_once(
    client, sent, nora, mailoutbox, settings
):
    elsewhere = Client()
    elsewhere.force_login(nora)
    assert 'href="/password/reset"' in text_of(client.get("/login"))
    assert "If an account has this address" in text_of(ask(client, "Nora@Example.com", follow=True))
    (mail,) = mailoutbox
    assert mail.to == ["nora@example.com"]
    assert f"{settings.BASE_URL}/password/new/" in mail.body
    link = link_in(mail)
    form = client.get(link, follow=True)
    # The page has no token in its address, which a link on it could tell others.
    assert form.redirect_chain[0][0].endswith("/set-password")
    done = client.post(form.redirect_chain[0][0], NEXT, follow=True)
    assert "Password changed" in text_of(done)
    assert User.objects.get(pk=nora.pk).check_password(NEW)
    assert elsewhere.get("/account").status_code == 302
    assert list(nora.activity.values_list("act", "actor", "surface", "details")) == [
        (Act.PASSWORD_RESET, "nora", "page", {})
    ]
    again = text_of(Client(headers={"Accept-Language": "en"}).get(link, follow=True))
    assert "This link does not work any more" in again


def test_unknown_and_unusable_accounts_get_the_same_answer_and_no_mail(client, sent, nora, mailoutbox):
    User.objects.filter(pk=nora.pk).update(is_active=False)
    User.objects.create_user("single", "single@example.com")  # without a password
    answers = {
        (answer.status_code, answer["Location"])
        for answer in (
            ask(client, name) for name in ("nobody@example.com", "nora@example.com", "single@example.com")
        )
    }
    assert answers == {(302, "/login")}
    assert mailoutbox == []
    # A worker is asked each time, so that no time tells either.
    assert [message[0] for message in sent] == [[], [], []]


def test_the_mail_is_in_the_language_of_the_page_and_names_the_configured_host(
    sent, nora, mailoutbox, settings
):
    settings.ALLOWED_HOSTS = ["*"]
    ask(Client(headers={"Accept-Language": "ko", "Host": "evil.example"}))
    assert mailoutbox[0].subject == "[Dure] 새 비밀번호"
    assert "evil" not in mailoutbox[0].body


def test_a_link_ends_with_its_time_and_a_weak_password_is_refused(
    client, sent, nora, mailoutbox, monkeypatch
):
    ask(client)
    address = client.get(link_in(mailoutbox[0]))["Location"]
    refused = client.post(address, {"new_password1": "short", "new_password2": "short"})
    assert "too short" in field_error(refused, "new_password2")
    assert User.objects.get(pk=nora.pk).check_password(OLD)
    now = PasswordResetTokenGenerator._now
    monkeypatch.setattr(PasswordResetTokenGenerator, "_now", lambda self: now(self) + timedelta(minutes=61))
    late = Client(headers={"Accept-Language": "en"}).get(link_in(mailoutbox[0]), follow=True)
    assert "This link does not work any more" in text_of(late)
    assert client.get("/password/new/xx/yy").status_code == 200


def test_requests_are_limited_by_account_and_by_address(sent, nora):
    answers = [ask(Client(), REMOTE_ADDR=f"198.51.100.{number}").status_code for number in range(6)]
    assert answers == [302] * 5 + [429]
    forget_counts()
    answers = [ask(Client(), f"user{number}@example.com").status_code for number in range(6)]
    assert answers == [302] * 5 + [429]
    assert len(sent) == 10


def test_an_address_that_is_none_is_an_error_of_its_field(client, sent):
    answer = ask(client, "nora")
    assert "valid email" in field_error(answer, "email")
    assert sent == []


def test_password_reset_is_missing_where_mail_is_not_configured(client, settings):
    settings.DURE_MAIL_IS_SET = False
    assert "/password/reset" not in text_of(client.get("/login"))
    assert client.get("/password/reset").status_code == 404
    assert client.get("/password/new/a/b").status_code == 404
