"""The codes of this app's own refusals; /api/problems/:code explains them."""

from jobs.api.framework.error_codes import describe

ALREADY_RUNNING = describe(
    "already_running",
    "A scheduled or manual Execution of this Task has not ended; `execution_id` says which.",
)
NO_STEPS = describe("no_steps", "The workflow has no steps to run.")
NOT_RESUMABLE = describe("not_resumable", "Only a failed or cancelled run can be resumed.")
