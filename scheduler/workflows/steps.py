"""A workflow's steps: jobs as they are submitted, checked as a template."""

from typing import Any
from uuid import UUID

from jobs import submission
from jobs.errors import Invalid, Refused
from jobs.models import Office
from jobs.states import Trigger
from jobs.submission import Prepared


def prepare(office: Office, steps: object, *, batch: UUID | None = None, name: str = "") -> Prepared:
    """The steps, ready to submit; refused under the names of their fields: `steps.2.task_id`."""
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise Invalid("steps: Expected a list of jobs.", errors={"steps": ["Expected a list of jobs."]})
    _refuse_foreign_dependencies(steps)
    try:
        return submission.prepare(office, steps, batch=batch, batch_name=name, trigger=Trigger.WORKFLOW)
    except Refused as refused:
        refused.errors = {field.replace("jobs.", "steps.", 1): why for field, why in refused.errors.items()}
        if not refused.errors:
            refused.errors = {"steps": [refused.text]}
        raise


def _refuse_foreign_dependencies(steps: list[dict[str, Any]]) -> None:
    # A job submitted once may wait for one that the office has; a template runs again and again.
    refs = {step["ref"] for step in steps if isinstance(step.get("ref"), str)}
    errors: dict[str, list[str]] = {}
    for place, step in enumerate(steps):
        named = step.get("depends_on")
        for name in named if isinstance(named, list) else ():
            if isinstance(name, str) and name not in refs:
                errors.setdefault(f"steps.{place}.depends_on", []).append(f"There is no step {name[:100]!r}.")
    if errors:
        raise Invalid("A step depends on something that is no step of this workflow.", errors=errors)
