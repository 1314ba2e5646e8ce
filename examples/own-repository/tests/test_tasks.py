"""`dure.testing.run` runs a Task as a worker would: no server, no broker, no database."""

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
from shop.tasks import price, price_all, report, total

from dure.testing import FakeContext, run

TEA = {"name": "tea", "cents": 450}
CUP = {"name": "cup", "cents": 1200, "quantity": 2}


def test_an_order_is_priced():
    attempt = run(price, order=17, items=[TEA, CUP], discount=0.1)
    assert attempt.result == {"order": 17, "cents": 2565}
    assert attempt.progress == [(0.5, "tea"), (1.0, "cup")]
    assert attempt.messages == ["order 17 costs 2850 cents before the discount"]


@pytest.mark.parametrize("items", [[{"name": "tea", "cents": -1}], [{"name": "tea"}], "tea"])
def test_items_that_do_not_fit_are_refused_and_not_tried_again(items):
    attempt = run(price, order=17, items=items)
    assert (attempt.failure_type, attempt.is_retried) == ("invalid_args", False)


def test_an_order_without_items_is_tried_again():
    attempt = run(price, order=17, items=[])
    assert (attempt.error_message, attempt.is_retried) == ("Order 17 has no items.", True)


def test_a_cancel_stops_the_pricing():
    attempt = run(price, FakeContext(cancel_at=1), order=17, items=[TEA, CUP])
    assert attempt.outcome == "cancelled"
    assert attempt.progress == [(0.5, "tea")]


def test_orders_are_priced_once_however_often_the_body_starts():
    context = FakeContext()
    first = run(price_all, context, orders={1: [TEA], 2: [CUP]})
    (submission,) = first.submitted
    assert [job["ref"] for job in submission.jobs] == ["order-1", "order-2", "total"]
    assert submission.jobs[2]["depends_on"] == ["order-1", "order-2"]
    assert run(price_all, context, orders={1: [TEA], 2: [CUP]}).submitted == []


def test_the_results_of_other_jobs_are_added_up():
    context = FakeContext(
        results={"order-1": {"order": 1, "cents": 450}, "order-2": {"order": 2, "cents": 50}}
    )
    assert run(total, context).result == {"orders": 2, "cents": 500}


def test_the_report_is_for_the_day_before_its_schedule():
    midnight = datetime(2026, 3, 1, 0, 5, tzinfo=ZoneInfo("Asia/Seoul"))
    assert run(report, FakeContext(scheduled_for=midnight)).result == "orders-2026-02-28.csv"
    assert "needs a schedule" in run(report).error_message
