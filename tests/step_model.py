"""The specification's walk, word by word, as one loop over a list: what the real one is compared with."""

from dataclasses import dataclass, field

# What an operation does: nothing (NO_OPERATION), or it ends like this.
NOTHING, SUCCEED, FAIL, TIME_OUT = "nothing", "succeed", "fail", "time_out"
FORWARD_STATE = {NOTHING: "SUCCESS", SUCCEED: "SUCCESS", FAIL: "FAILED", TIME_OUT: "TIMEOUT"}
BACKWARD_STATE = {NOTHING: ", CANCELED", SUCCEED: ", CANCELED", FAIL: ", FAILED", TIME_OUT: ", FAILED"}


@dataclass(frozen=True)
class ModelJob:
    forward: str = SUCCEED
    backward: str = SUCCEED
    has_library: bool = True


@dataclass
class Walked:
    states: list[str]
    direction: str = "FORWARD"
    # Each operation that was carried out, in order: the job's place, and the direction.
    trail: list[tuple[int, str]] = field(default_factory=list)


def walked(jobs: list[ModelJob]) -> Walked:
    walk = Walked(["NOTYET" if job.has_library else "NOLIB" for job in jobs])
    running_job = 0
    while True:
        job = jobs[running_job]
        if walk.states[running_job] == "NOLIB":
            walk.direction = "BACKWARD"
            if running_job == 0:
                return walk
            running_job -= 1
            continue
        walk.trail.append((running_job, walk.direction))
        if walk.direction == "FORWARD":
            walk.states[running_job] = FORWARD_STATE[job.forward]
            if walk.states[running_job] != "SUCCESS":
                walk.direction = "BACKWARD"
                continue
            if running_job == len(jobs) - 1:
                return walk
            running_job += 1
        else:
            walk.states[running_job] += BACKWARD_STATE[job.backward]
            if running_job == 0:
                return walk
            running_job -= 1
