"""Tasks that a worker has and the process of the tests has not: no test may import this module."""

from typing import Annotated

from pydantic import Field

from dure import Context, operation, task


@task("shop.pack", role="Designer", max_retries=7)
def pack(ctx: Context, name: str, boxes: Annotated[int, Field(ge=1, le=5)] = 1) -> str:
    """Packs a thing.

    In boxes.
    """
    return f"{boxes} x {name}"


@operation(role="Designer", library="shop")
def reserve(step: object, size: int) -> int:
    """Reserves a box."""
    return size
