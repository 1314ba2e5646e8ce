"""Orders are priced one by one, and a report sums up a day."""

from datetime import timedelta
from typing import Annotated, Any

from pydantic import BaseModel, Field

from dure import Context, TaskFailure, task

# A role of one's own: only workers that have this code serve it.
ROLE = "shop"


class Item(BaseModel):
    name: str
    cents: Annotated[int, Field(ge=0)]
    quantity: Annotated[int, Field(ge=1)] = 1


@task("shop.price", role=ROLE, timeout=60, max_retries=3, retry_backoff=5)
def price(
    ctx: Context, order: int, items: list[Item], discount: Annotated[float, Field(ge=0, le=1)] = 0.0
) -> dict[str, int]:
    """Prices an order."""
    if not items:
        raise TaskFailure(f"Order {order} has no items.")
    cents = 0
    for number, item in enumerate(items, start=1):
        cents += item.cents * item.quantity
        ctx.progress(number / len(items), item.name)
    ctx.logger.info("order %s costs %s cents before the discount", order, cents)
    return {"order": order, "cents": round(cents * (1 - discount))}


@task("shop.price_all", role=ROLE)
def price_all(ctx: Context, orders: dict[int, list[Item]]) -> list[str]:
    """Prices orders at the same time, and adds them up when all are priced."""
    jobs: list[dict[str, Any]] = [
        {
            "ref": f"order-{order}",
            "task_id": "shop.price",
            "args": {"order": order, "items": [item.model_dump() for item in items]},
        }
        for order, items in orders.items()
    ]
    total = {"ref": "total", "task_id": "shop.total", "depends_on": [job["ref"] for job in jobs]}
    return ctx.submit(*jobs, total)


@task("shop.total", role=ROLE)
def total(ctx: Context) -> dict[str, int]:
    """Adds up the orders that this job depends on."""
    cents = sum(priced["cents"] for priced in ctx.results.values())
    ctx.logger.info("%s orders, %s cents", len(ctx.results), cents)
    return {"orders": len(ctx.results), "cents": cents}


@task("shop.report", role=ROLE)
def report(ctx: Context) -> str:
    """Names the report of the day before, for a schedule that runs after midnight."""
    if ctx.scheduled_for is None:
        raise TaskFailure("The report needs a schedule, which says for which day it is.")
    day = ctx.scheduled_for.date() - timedelta(days=1)
    return f"orders-{day.isoformat()}.csv"
