"""A POST with an Idempotency-Key has one effect and one answer, however often it is sent."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection, transaction
from django.test import RequestFactory
from django.utils import timezone
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request

from jobs import retention
from jobs.api.framework.idempotency import _digest_of
from jobs.models.access import IdempotentAnswer
from tests.concurrency.threads import all_at_once, in_thread
from tests.integration.rest_support import PROBLEM, client_of, make_user

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.urls("tests.integration.rest_support"),
    pytest.mark.usefixtures("fresh_counts"),
]


@pytest.fixture
def alice():
    return client_of(make_user())


def create(client, name: str, key: str | None = "key 1", address: str = "/api/groups"):
    headers = {"Idempotency-Key": key} if key is not None else {}
    return client.post(address, {"name": name}, content_type="application/json", headers=headers)


def refused(response, status: int, code: str) -> None:
    assert response.status_code == status, response.content
    assert response["Content-Type"] == PROBLEM
    assert response.json()["code"] == code


def test_a_repeated_request_returns_the_first_answer(alice):
    first, second = create(alice, "one"), create(alice, "one")
    assert first.status_code == second.status_code == 201
    assert first.content == second.content
    assert first["Location"] == second["Location"]
    assert first["Content-Type"] == second["Content-Type"]
    assert "Idempotency-Replayed" not in first
    assert second["Idempotency-Replayed"] == "true"
    assert Group.objects.count() == 1


def test_a_repeated_body_may_differ_in_key_order_and_spaces(alice):
    headers = {"Idempotency-Key": "k"}
    bodies = ('{"name": "x", "a": 1}', '{"a":1,   "name":"x"}')
    codes = [
        alice.post("/api/groups", body, content_type="application/json", headers=headers).json()["code"]
        for body in bodies
    ]
    assert codes == ["invalid", "invalid"]  # not idempotency_key_reused


def test_a_key_with_another_body_is_422(alice):
    create(alice, "one")
    refused(create(alice, "two"), 422, "idempotency_key_reused")
    refused(create(alice, "one", address="/api/groups?x=1"), 422, "idempotency_key_reused")
    assert Group.objects.count() == 1


def test_keys_are_separate_by_user_and_url(alice):
    bob = client_of(make_user("bob"))
    assert create(alice, "one").status_code == 201
    assert create(bob, "two").status_code == 201
    assert create(alice, "three", address="/api/rough-groups").status_code == 201
    assert create(alice, "four", key="key 2").status_code == 201
    assert Group.objects.count() == 4


def test_a_request_without_a_key_stores_nothing(alice):
    assert create(alice, "one", key=None).status_code == 201
    refused(create(alice, "one", key=None), 400, "invalid")
    assert not IdempotentAnswer.objects.exists()


@pytest.mark.parametrize("key", ["", " ", "x" * 201, "한글", "a\tb", "\x7f"])
def test_a_key_out_of_bounds_is_400(alice, key):
    refused(create(alice, "one", key=key), 400, "invalid_idempotency_key")
    assert not Group.objects.exists()


def test_a_key_of_two_hundred_characters_is_fine(alice):
    assert create(alice, "one", key="~" * 200).status_code == 201


def test_a_4xx_answer_is_not_stored(alice):
    # The view creates the group and then answers 409, so its transaction has to be undone.
    assert create(alice, "refused").status_code == 409
    assert not Group.objects.exists()
    assert create(alice, "mended").status_code == 201


def test_a_5xx_answer_is_not_stored(alice):
    refused(create(alice, "boom"), 500, "server_error")
    assert not Group.objects.exists()
    assert create(alice, "mended").status_code == 201


def test_old_answers_are_deleted_in_batches(alice):
    for number in range(5):
        create(alice, f"group {number}", key=f"key {number}")

    def delete_answers(hours, batch):
        now = timezone.now() + timedelta(hours=hours)
        return dict(retention.steps(now, now, batch))["answers"]()

    assert delete_answers(23, 100) == 0
    assert delete_answers(25, 3) == 3
    assert delete_answers(25, 3) == 2
    assert delete_answers(25, 3) == 0


def test_a_repeated_upload_may_have_another_boundary():
    def digest(content: bytes, name: str = "a.json") -> str:
        request = RequestFactory().post("/", {"title": "x", "file": SimpleUploadedFile(name, content)})
        request.META["CONTENT_TYPE"] = request.META["CONTENT_TYPE"]
        wrapped = Request(request, parsers=[MultiPartParser()])
        result = _digest_of(wrapped)
        assert wrapped.FILES["file"].read() == content  # the view still reads all of it
        return result

    assert digest(b"one") == digest(b"one")
    assert digest(b"one") != digest(b"two")
    assert digest(b"one") != digest(b"one", "b.json")


@pytest.mark.django_db(transaction=True)
def test_concurrent_requests_with_one_key_create_once():
    user = make_user()
    clients = [client_of(user, f"token {number}") for number in range(8)]
    answers = all_at_once(lambda number: create(clients[number], "one"), len(clients))
    assert [answer.status_code for answer in answers] == [201] * 8
    assert len({answer.content for answer in answers}) == 1
    assert sum("Idempotency-Replayed" in answer for answer in answers) == 7
    assert Group.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_second_request_during_the_first_gets_409_with_retry_after():
    user = make_user()
    client = client_of(user)

    def send():
        with connection.cursor() as cursor:
            cursor.execute("SET lock_timeout = '200ms'")
        return create(client, "one")

    with transaction.atomic():
        # The first request has inserted its row and not committed yet.
        digest = "0" * 64
        IdempotentAnswer.objects.create(
            user=user, path="/api/groups", key="key 1", digest=digest, created_at=timezone.now()
        )
        answer = in_thread(send)
        transaction.set_rollback(True)
    refused(answer, 409, "request_in_progress")
    assert answer["Retry-After"] == "1"
    # The first one has rolled back: the key is free again.
    assert create(client, "one").status_code == 201
