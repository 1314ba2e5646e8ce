"""Sign-in at the admin is counted: test_rest_throttling has how."""

import pytest
from django.test import Client

from tests.integration.rest_support import forget_counts, make_user

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def small_rates(settings):
    rates = {**settings.REST_FRAMEWORK["DEFAULT_THROTTLE_RATES"], "login": "3/min"}
    settings.REST_FRAMEWORK = {**settings.REST_FRAMEWORK, "DEFAULT_THROTTLE_RATES": rates}
    forget_counts()
    yield
    forget_counts()


def attempt(username: str, password: str, address: str):
    form = {"username": username, "password": password}
    return Client().post("/admin/login/?next=/admin/", form, REMOTE_ADDR=address)


def test_the_right_password_is_refused_after_too_many_wrong_ones():
    make_user("admin", is_staff=True)
    for number in range(3):
        assert attempt("admin", "wrong", f"198.51.100.{number}").status_code == 200
    stopped = attempt("admin", "correct horse", "198.51.100.9")
    assert stopped.status_code == 429
    assert 1 <= int(stopped["Retry-After"]) <= 60
    assert "sessionid" not in stopped.cookies


def test_a_successful_sign_in_resets_the_count():
    make_user("admin", is_staff=True)
    for number in range(6):
        assert attempt("admin", "correct horse", f"198.51.100.{number}").status_code == 302


def test_a_get_of_the_page_is_not_counted():
    assert [Client().get("/admin/login/").status_code for _ in range(6)] == [200] * 6
