"""The page of a batch: a drawing, or a list when there are too many jobs."""

import pytest

from tests.factories import submitted
from tests.integration.pages.clients import at

pytestmark = pytest.mark.django_db


def test_a_batch_is_drawn_with_its_critical_path(office, alice):
    a, *_ = submitted(
        office,
        {"ref": "a"},
        {"ref": "b", "depends_on": ["a"]},
        {"ref": "c", "depends_on": ["a", "b"]},
        name="x",
    )
    page = alice.get(at(office, f"/batches/{a.batch_id}"))
    assert [box.node.ref for box in page.context["drawing"].boxes] == ["a", "b", "c"]
    assert page.content.decode().count('class="critical"') == 2
    assert "0.0%" in page.content.decode()


def test_a_batch_of_thousands_is_a_list_without_a_graph(office, alice):
    (job, *_) = submitted(office, *({} for _ in range(1_200)), name="large")
    page = alice.get(at(office, f"/batches/{job.batch_id}"))
    assert page.context["drawing"] is None
    assert len(page.context["rows"]) == 1_000
    assert "and 200 more" in page.content.decode()
