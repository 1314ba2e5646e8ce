"""Throttling: excess requests are refused whatever their headers, and none while Redis is away."""

import pytest
from django.test import Client, RequestFactory

from jobs.api.framework import throttling
from tests.concurrency.threads import all_at_once
from tests.integration.rest_support import PROBLEM, client_of, forget_counts, make_user
from tests.workers import eventually

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.integration.rest_support")]

NOBODY_LISTENS = "redis://127.0.0.1:1/0"


@pytest.fixture(autouse=True)
def small_rates(settings):
    forget_counts()
    rates = {"anonymous": "5/min", "user": "5/min", "refused": "5/min", "login": "5/min"}
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "DEFAULT_THROTTLE_RATES": rates, "NUM_PROXIES": 0}
    url = settings.REDIS_URL
    yield
    settings.REDIS_URL = url
    forget_counts()


def statuses(client: Client, address: str, count: int, **more) -> list[int]:
    return [client.get(address, **more).status_code for _ in range(count)]


def test_a_request_above_the_rate_is_429_with_retry_after():
    client = Client()
    assert statuses(client, "/api/open", 5) == [200] * 5
    response = client.get("/api/open")
    assert response.status_code == 429
    assert response["Content-Type"] == PROBLEM
    assert response.json()["code"] == "throttled"
    assert 1 <= int(response["Retry-After"]) <= 60


@pytest.mark.parametrize("address", ["/api/open", "/api/schema", "/api/echo"])
def test_a_forged_address_is_not_counted_apart(address):
    answers = [
        Client().get(address, headers={"X-Forwarded-For": forged, "X-Real-IP": forged, "Forwarded": forged})
        for forged in (f"10.0.0.{number}" for number in range(8))
    ]
    assert [answer.status_code for answer in answers[5:]] == [429] * 3


def test_clients_behind_one_proxy_are_counted_apart(settings):
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "NUM_PROXIES": 1}
    for number in range(8):
        # The client can write anything on the left; our proxy appends the real address.
        forged = {"X-Forwarded-For": f"10.0.0.{number}, 198.51.100.1"}
        status = Client().get("/api/open", headers=forged).status_code
        assert status == (200 if number < 5 else 429)
    assert Client().get("/api/open", headers={"X-Forwarded-For": "198.51.100.2"}).status_code == 200


def test_a_user_is_counted_over_all_tokens_and_apart_from_others():
    alice, bob = make_user("alice"), make_user("bob")
    assert statuses(client_of(alice), "/api/echo", 3) == [200] * 3
    assert statuses(client_of(alice), "/api/echo", 3) == [200, 200, 429]
    assert statuses(client_of(bob), "/api/echo", 5) == [200] * 5


def test_guesses_of_tokens_are_counted_by_address():
    answers = [
        Client().get("/api/echo", headers={"Authorization": f"Token dure_{number:043}"}).status_code
        for number in range(7)
    ]
    assert answers == [401] * 5 + [429] * 2
    # A valid token still passes.
    assert client_of(make_user()).get("/api/echo").status_code == 200


def test_fifty_requests_at_once_are_counted_atomically():
    waits = all_at_once(lambda _: throttling.count_request("login", "account:x"), 50)
    assert waits.count(None) == 5


def test_a_sign_in_is_counted_by_account_and_by_address():
    def attempt(account: str, address: str) -> bool:
        request = RequestFactory().post("/login", REMOTE_ADDR=address)
        return throttling.count_login(request, account) is None

    assert [attempt("alice", f"198.51.100.{number}") for number in range(6)] == [True] * 5 + [False]
    assert attempt(" Alice ", "198.51.100.99") is False
    assert [attempt(f"user{number}", "203.0.113.1") for number in range(6)] == [True] * 5 + [False]
    throttling.reset_login("alice")
    assert attempt("alice", "198.51.100.100") is True


def test_a_count_ends_with_its_window():
    counter = throttling.counter()
    key = throttling.KEY_PREFIX + "short"

    def count() -> throttling.Count:
        hit = counter.hit("short", 60)
        assert hit is not None
        return hit

    first = count()
    assert first.hits == 1 and 0 < first.seconds_left <= 60
    counter.redis.expire(key, 30)
    later = [count() for _ in range(2)]
    assert [hit.hits for hit in later] == [2, 3]
    assert all(hit.seconds_left <= 30 for hit in later), "a later hit does not begin the window again"
    counter.redis.pexpire(key, 1)
    eventually(lambda: count().hits == 1)


def test_every_request_passes_while_redis_is_down_and_is_logged_once(settings, caplog):
    settings.REDIS_URL = NOBODY_LISTENS
    throttling._counter.cache_clear()
    assert statuses(Client(), "/api/open", 10) == [200] * 10
    lines = [record for record in caplog.records if "nothing is throttled" in record.getMessage()]
    assert len(lines) == 1


def test_requests_are_counted_again_once_redis_answers(settings, monkeypatch):
    counter = throttling.Counter(NOBODY_LISTENS)
    monkeypatch.setattr(throttling, "OUTAGE_PAUSE_SECONDS", 0.0)
    assert counter.hit("x", 60) is None
    counter.redis = throttling.counter().redis
    hit = counter.hit("x", 60)
    assert hit is not None
    assert hit.hits == 1


def test_the_rate_off_counts_nothing(settings):
    rates = {**settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"], "anonymous": "off"}
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "DEFAULT_THROTTLE_RATES": rates}
    assert statuses(Client(), "/api/open", 10) == [200] * 10
