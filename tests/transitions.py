"""The states that may follow each state of a job and of an Execution: docs/states.md lists the same."""

from typing import Final

from jobs.states import ExecutionStatus, JobStatus

JOB_TRANSITIONS: Final[dict[JobStatus, tuple[JobStatus, ...]]] = {
    JobStatus.PENDING: (JobStatus.READY, JobStatus.FAILED, JobStatus.CANCELLED),
    JobStatus.TIMEOUT: (JobStatus.READY, JobStatus.FAILED, JobStatus.CANCELLED),
    JobStatus.READY: (JobStatus.PROCESSING, JobStatus.FAILED, JobStatus.CANCELLED),
    JobStatus.PROCESSING: (
        JobStatus.DONE,
        JobStatus.FAILED,
        JobStatus.CANCELLED,
        JobStatus.PENDING,
        JobStatus.TIMEOUT,
        JobStatus.READY,
    ),
    JobStatus.DONE: (),
    JobStatus.FAILED: (JobStatus.PENDING, JobStatus.READY),
    JobStatus.CANCELLED: (JobStatus.PENDING, JobStatus.READY),
}
EXECUTION_TRANSITIONS: Final[dict[ExecutionStatus, tuple[ExecutionStatus, ...]]] = {
    ExecutionStatus.PENDING: (ExecutionStatus.RUNNING, ExecutionStatus.FAILED, ExecutionStatus.CANCELLED),
    ExecutionStatus.RUNNING: (
        ExecutionStatus.SUCCESS,
        ExecutionStatus.FAILED,
        ExecutionStatus.CANCELLED,
        ExecutionStatus.PENDING,
    ),
    ExecutionStatus.SUCCESS: (),
    ExecutionStatus.FAILED: (),
    ExecutionStatus.CANCELLED: (),
}
