"""Fixtures of the tests of pages: counters at zero, and signed-in clients."""

from datetime import timedelta

import pytest

from exports.pages import wait_status
from tests.factories import a_user, an_office
from tests.integration import export_tools
from tests.integration.pages.clients import sign_in, signed_in
from tests.integration.rest_support import forget_counts


@pytest.fixture(autouse=True)
def fresh_counts():
    forget_counts()


@pytest.fixture
def office():
    return an_office(a_user("alice"), name="Alice's", max_concurrent_jobs=1)


@pytest.fixture
def alice():
    return sign_in()


@pytest.fixture
def folders(settings, tmp_path):
    """The folders of replays and exports."""
    export_tools.roots(settings, tmp_path)


@pytest.fixture
def minji():
    return export_tools.user()


@pytest.fixture
def page(minji):
    """A client of minji, who owns the replays and the exports."""
    return signed_in(minji)


@pytest.fixture
def long_send_limit(monkeypatch):
    """Pages call a message late after half a minute, since a busy machine may take seconds to show one."""
    monkeypatch.setattr(wait_status, "SEND_LIMIT", timedelta(seconds=30))
