"""Lists are paginated and validate their parameters."""

from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs.api.framework.pagination import RoughPagination
from tests.integration.rest_support import PROBLEM, client_of, forget_counts, make_user

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.integration.rest_support")]


@pytest.fixture
def alice():
    forget_counts()
    return client_of(make_user())


@pytest.fixture
def groups():
    return Group.objects.bulk_create(Group(name=f"group {number:03}") for number in range(120))


def refused(response, *fields: str) -> Any:
    assert response.status_code == 400
    assert response["Content-Type"] == PROBLEM
    assert set(response.json()["errors"]) == set(fields)
    return response.json()


def test_next_links_return_every_row_once(alice, groups):
    seen, address, pages = [], "/api/groups?page_size=50", 0
    while address:
        answer = alice.get(address).json()
        assert answer["count"] == 120
        seen += [row["id"] for row in answer["results"]]
        address, pages = answer["next"], pages + 1
    assert pages == 3
    assert seen == [group.pk for group in groups]


def test_previous_links_keep_the_filters(alice, groups):
    answer = alice.get("/api/groups?page=3&page_size=50").json()
    assert answer["next"] is None
    assert "page=2" in answer["previous"]
    assert "page_size=50" in answer["previous"]


def test_a_page_has_fifty_rows_by_default(alice, groups):
    assert len(alice.get("/api/groups").json()["results"]) == 50
    assert len(alice.get("/api/groups?page_size=200").json()["results"]) == 120


def test_an_empty_list_has_an_empty_first_page(alice):
    assert alice.get("/api/groups").json() == {"count": 0, "next": None, "previous": None, "results": []}


def test_a_page_after_the_last_is_404(alice, groups):
    for page in (4, 1000):
        response = alice.get(f"/api/groups?page={page}&page_size=50")
        assert response.status_code == 404
        assert response.json()["code"] == "not_found"


@pytest.mark.parametrize(
    "wrong", ["0", "-1", "201", "1e3", "", "x", "٣", "1.0", "9" * 5000, "1000000000000000000", " 1"]
)
def test_a_page_size_out_of_bounds_is_rejected(alice, wrong):
    document = refused(alice.get("/api/groups", {"page_size": wrong}), "page_size")
    assert "from 1 to 200" in document["detail"]


@pytest.mark.parametrize("wrong", ["0", "-1", "", "last", "9" * 5000, "1e9", str(2**63)])
def test_a_page_that_is_not_a_number_is_rejected(alice, wrong):
    refused(alice.get("/api/groups", {"page": wrong}), "page")


def test_pages_beyond_the_first_million_rows_are_rejected(alice, groups):
    with CaptureQueriesContext(connection) as queries:
        refused(alice.get("/api/groups?page=20001&page_size=50"), "page")
    assert not [query for query in queries if "auth_group" in query["sql"]]
    assert alice.get("/api/groups?page=20000&page_size=50").status_code == 404


def test_an_unknown_parameter_is_rejected_with_the_known_names(alice, groups):
    document = refused(alice.get("/api/groups?nmae=x"), "nmae")
    assert document["code"] == "unknown_parameter"
    assert "name, page, page_size" in document["detail"]
    document = refused(alice.get("/api/echo?afer=1"), "afer")
    assert "after" in document["detail"]
    assert alice.get("/api/echo?after=1").json() == {"after": "1"}


def test_a_filter_selects_rows(alice, groups):
    answer = alice.get("/api/groups?name=group 007").json()
    assert [row["name"] for row in answer["results"]] == ["group 007"]
    assert answer["count"] == 1


def test_an_estimated_count_is_exact_below_its_cap_and_never_too_small_above(alice, groups, monkeypatch):
    assert alice.get("/api/rough-groups?page_size=50").json()["count"] == 120
    monkeypatch.setattr(RoughPagination, "exact_up_to", 30)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE auth_group")
    answer = alice.get("/api/rough-groups?page_size=50").json()
    assert answer["count"] == 120  # the planner's, after ANALYZE
    assert answer["next"]
    last = alice.get("/api/rough-groups?page_size=50&page=3").json()
    assert last["next"] is None
