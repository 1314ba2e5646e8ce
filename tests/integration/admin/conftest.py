"""Fixtures of the admin's tests: a signed-in superuser, and jobs."""

import pytest
from django.test import Client

from jobs.models import Job
from tests.factories import a_user, an_office, submitted
from tests.integration.pages.clients import signed_in
from tests.integration.rest_support import forget_counts


@pytest.fixture(autouse=True)
def fresh_counts():
    forget_counts()


@pytest.fixture
def root() -> Client:
    return signed_in(a_user("root", is_staff=True, is_superuser=True))


@pytest.fixture
def jobs() -> list[Job]:
    return submitted(an_office(a_user("alice"), max_concurrent_jobs=1), {"ref": "a"}, {"ref": "b"}, name="x")
