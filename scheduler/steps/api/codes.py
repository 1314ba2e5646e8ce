"""The `code`s of problems that only step queues have."""

from jobs.api.framework.error_codes import describe

describe("queue_empty", "The queue has no jobs that could be run.")
describe("queue_running", "The queue is running; it takes no jobs, and cannot be run or deleted meanwhile.")
describe("queue_full", "The queue has as many jobs as a queue may have.", status=400)
describe("nothing_to_cancel", "The queue is not running, or it turns back already.")
describe("not_failed", "Only a backward operation that failed can be run again.")
describe("unknown_library", "No operation library of that name is registered.", status=400)
describe("unknown_operation", "The operation is not registered any more.")
