"""What the codes of refusals about jobs and offices mean."""

from jobs.api.framework.error_codes import describe

# Raised by the verbs.
describe(
    "cycle",
    "The jobs depend on each other in a circle; `cycle` names the members of one, in order.",
    status=400,
)
describe("unique_key_taken", "The office has a job with this `unique_key` that has not ended.")
describe("jobs_processing", "Jobs of the office are processing; cancel them first.")

ENDED = describe("ended", "It has ended, so this cannot be done to it any more.")
NOT_RETRYABLE = describe("not_retryable", "Only a failed, timed-out or cancelled job can be run again.")
LAST_OWNER = describe("last_owner", "An office needs an owner, and this is the last one.")
