"""The specification's run of a step queue as one loop over a list, for tests to compare with."""

from dataclasses import dataclass, field

# The effect of an operation: nothing (NO_OPERATION), or its outcome.
NOTHING, SUCCEED, FAIL, TIME_OUT = "nothing", "succeed", "fail", "time_out"
FORWARD_STATE = {NOTHING: "SUCCESS", SUCCEED: "SUCCESS", FAIL: "FAILED", TIME_OUT: "TIMEOUT"}
BACKWARD_STATE = {NOTHING: ", CANCELED", SUCCEED: ", CANCELED", FAIL: ", FAILED", TIME_OUT: ", FAILED"}


@dataclass(frozen=True)
class ModelJob:
    forward: str = SUCCEED
    backward: str = SUCCEED
    has_library: bool = True


@dataclass
class ModelRun:
    states: list[str]
    direction: str = "FORWARD"
    # Each operation that ran, in order: the job's index, and the direction.
    trail: list[tuple[int, str]] = field(default_factory=list)


def expected_run(jobs: list[ModelJob]) -> ModelRun:
    run = ModelRun(["NOTYET" if job.has_library else "NOLIB" for job in jobs])
    running_job = 0
    while True:
        job = jobs[running_job]
        if run.states[running_job] == "NOLIB":
            run.direction = "BACKWARD"
            if running_job == 0:
                return run
            running_job -= 1
            continue
        run.trail.append((running_job, run.direction))
        if run.direction == "FORWARD":
            run.states[running_job] = FORWARD_STATE[job.forward]
            if run.states[running_job] != "SUCCESS":
                run.direction = "BACKWARD"
                continue
            if running_job == len(jobs) - 1:
                return run
            running_job += 1
        else:
            run.states[running_job] += BACKWARD_STATE[job.backward]
            if running_job == 0:
                return run
            running_job -= 1
