"""Reserves a van for an order, and releases it when a later operation of the step queue fails."""

from typing import Annotated

from pydantic import Field

from dure import StepRun, TaskFailure, operation
from shop.tasks import ROLE

# Stands for a service outside: the vans, each with the key that it is reserved under.
VANS: dict[str, str | None] = {"van-1": None, "van-2": None}


@operation(role=ROLE)
def reserve_van(step: StepRun, boxes: Annotated[int, Field(ge=1, le=40)]) -> dict[str, str]:
    """Reserves a van."""
    van = next((van for van, key in VANS.items() if key in (step.key, None)), None)
    if van is None:
        raise TaskFailure("All vans are on the road.")
    VANS[van] = step.key
    step.context["van"] = van
    step.logger.info("%s takes %s boxes", van, boxes)
    return {"van": van}


@operation(role=ROLE, max_retries=5)
def release_van(step: StepRun) -> list[str]:
    """Releases what was reserved under this key, if anything was."""
    vans = [van for van, key in VANS.items() if key == step.key]
    for van in vans:
        VANS[van] = None
    step.context.pop("van", None)
    return vans
