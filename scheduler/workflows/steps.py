"""Checks a workflow's steps, which are a template of jobs, and prepares them for submission."""

from typing import Any
from uuid import UUID

from jobs import submission
from jobs.errors import ErrorText, FieldErrors, Invalid, Refused
from jobs.models import Office
from jobs.states import Trigger
from jobs.submission import PreparedSubmission


def prepare(
    office: Office, steps: object, *, batch: UUID | None = None, name: str = ""
) -> PreparedSubmission:
    """The steps, ready to submit. Errors name the fields of steps: `steps.2.task_id`."""
    if not isinstance(steps, list) or not all(isinstance(step, dict) for step in steps):
        raise Invalid(errors={"steps": ["steps_list"]})
    unknown = _unknown_dependencies(steps)
    try:
        prepared = submission.prepare(office, steps, batch=batch, batch_name=name, trigger=Trigger.WORKFLOW)
    except Refused as refused:
        errors = {field.replace("jobs.", "steps.", 1): texts for field, texts in refused.errors.items()}
        if not unknown or errors.keys() - unknown.keys():
            refused.errors = errors | unknown or {"steps": [refused.text]}
            raise
    if unknown:
        raise Invalid("unknown_steps", errors=unknown)
    return prepared


def _unknown_dependencies(steps: list[dict[str, Any]]) -> FieldErrors:
    # A single submission may depend on jobs that the office already has; a template runs again and again.
    refs = {step["ref"] for step in steps if isinstance(step.get("ref"), str)}
    errors: FieldErrors = {}
    for index, step in enumerate(steps):
        names = step.get("depends_on")
        for name in names if isinstance(names, list) else ():
            if isinstance(name, str) and name not in refs:
                field = f"steps.{index}.depends_on"
                errors.setdefault(field, []).append(ErrorText("unknown_step", name=name[:100]))
    return errors
